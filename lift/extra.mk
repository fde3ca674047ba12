# unplait-lift: a program of its own, because it links VEX (GPL-2+); nothing else does. Without
# Debian's valgrind package it is not built, and `unplait rewind` says so.
VEX_LIB := $(firstword $(wildcard /usr/lib/x86_64-linux-gnu/valgrind/libvex-amd64-linux.a /usr/lib/valgrind/libvex-amd64-linux.a \
	/usr/libexec/valgrind/libvex-amd64-linux.a))
ifneq ($(VEX_LIB),)
LIFT_OBJ := $(patsubst %.c,$(BUILD)/lift-obj/%.o,$(wildcard lift/*.c))
$(BUILD)/lift-obj/%.o: %.c
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  LIFT  $<")
	$(Q)$(CC) $(CSTD) $(WARN) $(CFLAGS) -isystem /usr/include/valgrind -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
$(BUILD)/unplait-lift: $(LIFT_OBJ)
	@echo "  LINK  $@"
	$(Q)$(CC) $(CFLAGS) -o $@ $(LIFT_OBJ) $(VEX_LIB)
PROGRAMS += $(BUILD)/unplait-lift
-include $(wildcard $(BUILD)/lift-obj/lift/*.d)
endif
