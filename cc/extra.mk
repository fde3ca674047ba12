# Bodies of library functions (cc/expand/bodies): C compiled to LLVM bitcode, linked, and embedded into unplait-cc.
ifneq ($(HAVE_LLVM),)
BODY_SRC   := $(wildcard cc/expand/bodies/*.c)
BODY_BC    := $(patsubst cc/expand/bodies/%.c,$(BUILD)/bodies/%.bc,$(BODY_SRC)) \
	$(patsubst cc/expand/bodies/%.cpp,$(BUILD)/bodies/%.bc,$(wildcard cc/expand/bodies/*.cpp))
BODY_FLAGS := --target=x86_64-linux-gnu -std=gnu17 -O1 -fPIC -ffreestanding -fno-builtin -fno-vectorize -fno-slp-vectorize \
	-fno-unroll-loops -fno-strict-aliasing -fno-stack-protector -Wall -Wextra -Wno-missing-prototypes -I. -U_FORTIFY_SOURCE

$(BUILD)/bodies/%.bc: cc/expand/bodies/%.c $(wildcard cc/expand/bodies/*.h) cc/extra.mk
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  BODY  $<")
	$(Q)$(CC) $(BODY_FLAGS) -emit-llvm -c -o $@ $<
# C++, functions under their own names. A complete constructor (C1, D1) is an alias of the base's: nobody needs it.
$(BUILD)/bodies/%.bc: cc/expand/bodies/%.cpp cc/extra.mk
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  BODY  $<")
	$(Q)$(CC) -x c++ $(filter-out -std=% -ffreestanding,$(BODY_FLAGS)) -std=c++17 -Wno-everything -emit-llvm -S -o $(@:.bc=.ll) $<
	$(Q)sed -E '/^@.* alias /d; s/(EE|hider|wrapper)([CD])1(E[A-Za-z0-9_]*)/\1\22\3/g' $(@:.bc=.ll) | $(shell $(LLVM_CONFIG) --bindir)/llvm-as -o $@ -
$(BUILD)/bodies.bc: $(BODY_BC)
	$(Q)$(shell $(LLVM_CONFIG) --bindir)/llvm-link -o $@ $^
$(BUILD)/bodies-embed.c: $(BUILD)/bodies.bc
	$(Q){ echo 'extern const unsigned char cc_bodies_bc[]; extern const unsigned int cc_bodies_bc_len;'; \
	  echo 'const unsigned char cc_bodies_bc[] __attribute__((aligned(16))) = {'; od -An -v -tu1 $< | sed 's/ *\([0-9][0-9]*\)/\1,/g'; \
	  echo '}; const unsigned int cc_bodies_bc_len = sizeof(cc_bodies_bc);'; } >$@
$(BUILD)/obj/bodies-embed.o: $(BUILD)/bodies-embed.c
	@mkdir -p $(@D)
	$(Q)$(CC) -c -o $@ $<
# headers before those of libstdc++
$(BUILD)/c++/bits/%: cc/driver/c++/bits/%
	@mkdir -p $(@D)
	$(Q)cp $< $@
$(BUILD)/unplait-c++: $(patsubst cc/driver/%,$(BUILD)/%,$(wildcard cc/driver/c++/bits/*))
$(BUILD)/unplait-cc: $(BUILD)/obj/bodies-embed.o
CC_OBJ += $(BUILD)/obj/bodies-embed.o
CC_LIB_OBJ += $(BUILD)/obj/bodies-embed.o
endif
