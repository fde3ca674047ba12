# The order engine's growth curve is a program of its own.
ifneq ($(and $(HAVE_LLVM),$(HAVE_Z3)),)
BENCH_ORDER_OBJ := $(BUILD)/obj/bench/09-order.o $(BUILD)/obj/test/unit/order-shapes.o
$(BUILD)/bench-order: $(BENCH_ORDER_OBJ) $(BUILD)/liborder.a $(BUILD)/libbase.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(BENCH_ORDER_OBJ) $(BUILD)/liborder.a $(BUILD)/libbase.a -lz3 -lm -lpthread
endif


# Cooperative replay: the published tables, from the library.
BENCH_COOP_OBJ := $(BUILD)/obj/bench/06-coop.o
$(BUILD)/bench-coop: $(BENCH_COOP_OBJ) $(LIBRARIES)
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(BENCH_COOP_OBJ) -Wl,--start-group $(LIBRARIES) -Wl,--end-group $(DEPS_LIBS)

$(BUILD)/bench-coop-cost: $(BUILD)/obj/bench/06-coop-cost.o $(LIBRARIES)
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(BUILD)/obj/bench/06-coop-cost.o -Wl,--start-group $(LIBRARIES) -Wl,--end-group $(DEPS_LIBS)

# How long `rank` thinks.
$(BUILD)/bench-rank: $(BUILD)/obj/bench/05-rank-speed.o $(BUILD)/libgraph.a $(BUILD)/libbase.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(BUILD)/obj/bench/05-rank-speed.o $(BUILD)/libgraph.a $(BUILD)/libbase.a -lm

# What looking for data races adds to a run.
$(BUILD)/bench-races-cost: $(BUILD)/obj/bench/10-races-cost.o $(LIBRARIES)
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(BUILD)/obj/bench/10-races-cost.o -Wl,--start-group $(LIBRARIES) -Wl,--end-group $(DEPS_LIBS)
