# The models of the C library and of the C++ library: compiled to LLVM bitcode, linked to one module each, and embedded
# into libsym as arrays.
ifneq ($(LLVM_CONFIG),)
LLVM_BIN   := $(shell $(LLVM_CONFIG) --bindir)
MODEL_BC   := $(patsubst sym/models/libc/%.c,$(BUILD)/models/%.bc,$(wildcard sym/models/libc/*.c))
MODEL_CXX_BC := $(patsubst sym/models/cxx/%,$(BUILD)/models/cxx/%.bc,$(wildcard sym/models/cxx/*.c sym/models/cxx/*.cc))
MODEL_H    := $(wildcard sym/models/libc/*.h)
MODEL_COMMON := --target=x86_64-linux-gnu -O1 -gline-tables-only -fno-builtin -fno-vectorize -fno-slp-vectorize \
	-fno-stack-protector -D_GNU_SOURCE -Wall -Wextra -I. -U_FORTIFY_SOURCE
MODEL_FLAGS := -std=gnu17 -ffreestanding $(MODEL_COMMON) -Wno-cast-function-type-mismatch
MODEL_CXX_FLAGS := -std=gnu++17 -fno-exceptions -fno-rtti $(MODEL_COMMON)

$(BUILD)/models/%.bc: sym/models/libc/%.c $(MODEL_H)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  MODEL $<")
	$(Q)$(CC) $(MODEL_FLAGS) -emit-llvm -c -o $@ $<
$(BUILD)/models/cxx/%.c.bc: sym/models/cxx/%.c $(MODEL_H)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  MODEL $<")
	$(Q)$(CC) $(MODEL_FLAGS) -emit-llvm -c -o $@ $<
$(BUILD)/models/cxx/%.cc.bc: sym/models/cxx/%.cc
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  MODEL $<")
	$(Q)$(CC) --driver-mode=g++ $(MODEL_CXX_FLAGS) -emit-llvm -c -o $@ $<
$(BUILD)/models.bc: $(MODEL_BC)
	$(Q)$(LLVM_BIN)/llvm-link -o $@ $^
$(BUILD)/models_cxx.bc: $(MODEL_CXX_BC)
	$(Q)$(LLVM_BIN)/llvm-link -o $@ $^
$(BUILD)/models-embed.c $(BUILD)/models_cxx-embed.c: $(BUILD)/%-embed.c: $(BUILD)/%.bc
	$(Q){ echo 'extern const unsigned char sym_$*_bc[]; extern const unsigned int sym_$*_bc_len;'; \
	  echo 'const unsigned char sym_$*_bc[] __attribute__((aligned(16))) = {'; od -An -v -tu1 $< | sed 's/ *\([0-9][0-9]*\)/\1,/g'; \
	  echo '}; const unsigned int sym_$*_bc_len = sizeof(sym_$*_bc);'; } >$@
$(BUILD)/obj/models-embed.o $(BUILD)/obj/models_cxx-embed.o: $(BUILD)/obj/%.o: $(BUILD)/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) -c -o $@ $<
$(BUILD)/libsym.a: $(BUILD)/obj/models-embed.o $(BUILD)/obj/models_cxx-embed.o
endif
