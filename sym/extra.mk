# The models of the C library: C compiled to LLVM bitcode, linked, and embedded into libsym as an array.
ifneq ($(LLVM_CONFIG),)
MODEL_SRC  := $(wildcard sym/models/libc/*.c)
MODEL_BC   := $(patsubst sym/models/libc/%.c,$(BUILD)/models/%.bc,$(MODEL_SRC))
LLVM_BIN   := $(shell $(LLVM_CONFIG) --bindir)
MODEL_FLAGS := --target=x86_64-linux-gnu -std=gnu17 -O1 -gline-tables-only -ffreestanding -fno-builtin -fno-vectorize -fno-slp-vectorize \
	-fno-stack-protector -D_GNU_SOURCE -Wall -Wextra -Wno-cast-function-type-mismatch -I. -U_FORTIFY_SOURCE

$(BUILD)/models/%.bc: sym/models/libc/%.c $(wildcard sym/models/libc/*.h)
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  MODEL $<")
	$(Q)$(CC) $(MODEL_FLAGS) -emit-llvm -c -o $@ $<
$(BUILD)/models.bc: $(MODEL_BC)
	$(Q)$(LLVM_BIN)/llvm-link -o $@ $^
$(BUILD)/models-embed.c: $(BUILD)/models.bc
	$(Q){ echo 'extern const unsigned char sym_models_bc[]; extern const unsigned int sym_models_bc_len;'; \
	  echo 'const unsigned char sym_models_bc[] __attribute__((aligned(16))) = {'; od -An -v -tu1 $< | sed 's/ *\([0-9][0-9]*\)/\1,/g'; \
	  echo '}; const unsigned int sym_models_bc_len = sizeof(sym_models_bc);'; } >$@
$(BUILD)/obj/models-embed.o: $(BUILD)/models-embed.c
	@mkdir -p $(@D)
	$(Q)$(CC) -c -o $@ $<
$(BUILD)/libsym.a: $(BUILD)/obj/models-embed.o
endif
