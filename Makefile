# unplait: plain GNU make, out of tree. `make help` lists the targets.
#
# Every folder of the tool is one static library; adding a .c file to a folder needs no edit here.
# rt/ (with sched/) becomes libplait, which is linked into the user's program; preload/ becomes the
# watch library for unmodified programs; cc/ becomes the compiler driver.

VERSION := 0.3.0
BUILD   ?= $(if $(SAN),build-$(subst $(comma),-,$(SAN)),build)
PREFIX  ?= /usr/local
comma   := ,
V       ?= 0
JOBS    ?= $(shell nproc)
Q       := $(if $(filter 1,$(V)),,@)

CC      := $(or $(shell command -v clang-19),cc)
CSTD    := -std=gnu17 -D_GNU_SOURCE -I. -Iinclude -DUNPLAIT_VERSION='"$(VERSION)"'
WARN    := -Wall -Wextra -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-command-line-argument
CFLAGS  ?= -O2 -g
ALL_CFLAGS = $(CSTD) $(WARN) $(CFLAGS) $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) \
	-include base/banned.h -MMD -MP
# libplait lives in somebody else's process: no sanitizer, nothing exported by accident
RT_CFLAGS = $(CSTD) $(WARN) -O2 -g -fPIC -fvisibility=hidden -fno-omit-frame-pointer -ftls-model=initial-exec \
	-fno-stack-protector -MMD -MP

LLVM_CONFIG := $(shell command -v llvm-config-19)
HAVE_LLVM   := $(if $(LLVM_CONFIG),1)
HAVE_Z3     := $(shell echo '\#include <z3.h>' | $(CC) -E - >/dev/null 2>&1 && echo 1)
LLVM_LIBS   := $(if $(HAVE_LLVM),-L$(shell $(LLVM_CONFIG) --libdir) -lLLVM-19)
LLVM_CFLAGS := $(if $(HAVE_LLVM),-isystem $(shell $(LLVM_CONFIG) --includedir))
CSTD += $(if $(HAVE_LLVM),-DHAVE_LLVM) $(if $(HAVE_Z3),-DHAVE_Z3)

# The layers, left to right; a folder that does not exist yet is simply empty.
FOLDERS := base sched trace debug run graph coop deadlock crumbs sym order solve race explain predict synth rewind suite report witness mcp dap
FOLDERS := $(foreach d,$(FOLDERS),$(if $(wildcard $(d)/*.c $(d)/*/*.c),$(d)))
ifeq ($(HAVE_LLVM)$(HAVE_Z3),11)
TOOL_FOLDERS := $(FOLDERS)
else
TOOL_FOLDERS := $(filter-out sym order solve predict synth rewind,$(FOLDERS))
CSTD += -DNO_SYM
endif
LIBRARIES := $(patsubst %,$(BUILD)/lib%.a,$(TOOL_FOLDERS))
DEPS_LIBS := -lelf -ldw -lzstd -lxxhash -lsqlite3 -lcjson -lyaml -lm -lpthread -ldl $(if $(HAVE_Z3),-lz3) $(LLVM_LIBS)

src      = $(wildcard $(1)/*.c) $(wildcard $(1)/*/*.c)
obj      = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
CMD_OBJ := $(call obj,$(call src,cmd))
CC_OBJ  := $(call obj,$(call src,cc))
# the unit tests link everything but the two main()s, and have libc's heap
UNIT_OBJ := $(call obj,$(wildcard test/unit/*.c))
CMD_LIB_OBJ := $(filter-out $(BUILD)/obj/cmd/main.o,$(CMD_OBJ))
ifneq ($(HAVE_LLVM),)
CC_LIB_OBJ := $(filter-out $(BUILD)/obj/cc/driver/main.o $(BUILD)/obj/cc/driver/malloc.o,$(CC_OBJ))
else
UNIT_OBJ := $(filter-out $(BUILD)/obj/test/unit/test-cc%,$(UNIT_OBJ))
endif

PROGRAMS := $(BUILD)/unplait
ifneq ($(and $(HAVE_LLVM),$(CC_OBJ)),)
PROGRAMS += $(BUILD)/unplait-cc $(BUILD)/unplait-c++
endif
ifneq ($(wildcard rt/*/*.c),)
PROGRAMS += $(BUILD)/libplait.a $(BUILD)/libplait-sanitizer.a $(BUILD)/libplait.so
endif
ifneq ($(wildcard preload/*.c),)
PROGRAMS += $(BUILD)/libplait-watch.so
endif
# more things to build, one small .mk per folder that needs its own rule
-include $(wildcard */extra.mk)

.PHONY: all deps demo check check-quick check-long check-san check-fresh check-deb check-container bench lint install deb tarball clean help unit
.DEFAULT_GOAL := all
all: $(PROGRAMS)

help:
	@echo "make              build into $(BUILD)/"
	@echo "make demo         install what is missing, build, find and explain a real bug"
	@echo "make check        install what is missing, build, run every test"
	@echo "make check-quick  the inner loop: under a minute"
	@echo "make check-long   fuzzing, fleets, browsers, real programs"
	@echo "make check-san    the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make check-fresh  the two README commands inside a minimal Debian 12"
	@echo "make check-container  the Containerfile, built by buildah"
	@echo "make check-deb    the package of make deb inside a minimal Debian 12"
	@echo "make bench        measure; ONLY=name runs one"
	@echo "make lint         layers, banned functions, format, static analysis, man pages"
	@echo "make install      PREFIX=$(PREFIX), DESTDIR=$(DESTDIR)"
	@echo "make deb          a Debian package, $(BUILD)/unplait_$(VERSION)_ARCH.deb"
	@echo "make tarball      the sources of this commit as one file"
	@echo "variables: SAN=address,undefined  V=1  BUILD=folder"

deps:
	@scripts/deps

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  CC    $<")
	$(Q)$(CC) $(ALL_CFLAGS) $(LLVM_CFLAGS) -MF $(@:.o=.d) -c -o $@ $<

# what these objects embed
$(BUILD)/obj/report/assets.o: $(wildcard report/assets/*)
$(BUILD)/obj/run/debug.o: run/plait.py
$(BUILD)/obj/dap/dap.o: dap/dap.py
$(BUILD)/obj/cmd/manual.o: $(wildcard doc/manual/*.md) doc/flaky-tests.md doc/limits.md

$(BUILD)/lib%.a:
	$(Q)rm -f $@ && ar rcsP $@ $^
define folder_rule
$(BUILD)/lib$(1).a: $(call obj,$(call src,$(1)))
endef
$(foreach d,$(FOLDERS),$(eval $(call folder_rule,$(d))))

$(BUILD)/unplait: $(CMD_OBJ) $(LIBRARIES)
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(CMD_OBJ) -Wl,--start-group $(LIBRARIES) -Wl,--end-group $(DEPS_LIBS)

$(BUILD)/unplait-cc: $(CC_OBJ) $(BUILD)/libbase.a
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(CC_OBJ) $(BUILD)/libbase.a $(LLVM_LIBS) -lelf -lzstd -lxxhash -lm -ldl
$(BUILD)/unplait-c++: $(BUILD)/unplait-cc
	$(Q)ln -sf unplait-cc $@

# libplait: one object whose hidden symbols are local, so that no name of ours meets one of theirs
RT_OBJ := $(patsubst %.c,$(BUILD)/rtobj/%.o,$(call src,rt) $(call src,sched)) \
	$(patsubst %.S,$(BUILD)/rtobj/%.o,$(wildcard rt/*/*.S))
$(BUILD)/rtobj/%.o: %.c
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@echo "  RT    $<")
	$(Q)$(CC) $(RT_CFLAGS) -MF $(@:.o=.d) -c -o $@ $<
$(BUILD)/rtobj/rt/log/atomics.o: RT_CFLAGS += -mgeneral-regs-only
$(BUILD)/rtobj/%.o: %.S
	@mkdir -p $(@D)
	$(Q)$(CC) -Iinclude -I. -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
$(BUILD)/libplait.a: $(RT_OBJ)
	@echo "  AR    $@"
	$(Q)ld -r -o $(BUILD)/libplait.o $(RT_OBJ) && objcopy --localize-hidden $(BUILD)/libplait.o
	$(Q)rm -f $@ && ar rcs $@ $(BUILD)/libplait.o
# the same with strong names, to stand before a sanitizer's weak ones; the heap is the sanitizer's
HEAP_NAMES := malloc calloc realloc memalign aligned_alloc posix_memalign malloc_usable_size free
STRONG_OBJ := $(BUILD)/rtobj/rt/interpose/interpose-strong.o
$(STRONG_OBJ): rt/interpose/interpose.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(RT_CFLAGS) -DINTERPOSE_STRONG -MF $(@:.o=.d) -c -o $@ $<
$(BUILD)/libplait-sanitizer.a: $(RT_OBJ) $(STRONG_OBJ)
	@echo "  AR    $@"
	$(Q)ld -r -o $(@:.a=.o) $(filter-out $(BUILD)/rtobj/rt/interpose/interpose.o,$^) && objcopy --localize-hidden $(patsubst %,--weaken-symbol=%,$(HEAP_NAMES)) $(@:.a=.o)
	$(Q)rm -f $@ && ar rcs $@ $(@:.a=.o)
$(BUILD)/libplait.so: $(RT_OBJ)
	@echo "  LINK  $@"
	$(Q)$(CC) -shared -Wl,-soname,libplait.so -o $@ $(RT_OBJ) -ldl -lpthread

PRELOAD_OBJ := $(patsubst %.c,$(BUILD)/rtobj/%.o,$(call src,preload))
# its fast path counts instructions; functions that need their frame ask for it
$(PRELOAD_OBJ): RT_CFLAGS += -fomit-frame-pointer
$(BUILD)/libplait-watch.so: $(PRELOAD_OBJ)
	@echo "  LINK  $@"
	$(Q)$(CC) -shared -Wl,-soname,libplait-watch.so -Wl,-z,now -Wl,--strip-debug -o $@ $(PRELOAD_OBJ)

unit: $(BUILD)/unit
$(BUILD)/unit: $(UNIT_OBJ) $(CMD_LIB_OBJ) $(CC_LIB_OBJ) $(LIBRARIES)
	@echo "  LINK  $@"
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $(UNIT_OBJ) $(CC_LIB_OBJ) -Wl,--start-group $(LIBRARIES) -Wl,--end-group -lcriterion $(DEPS_LIBS)

demo: deps
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@BUILD=$(BUILD) scripts/demo

check: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all unit
	@$(MAKE) --no-print-directory lint
	@BUILD=$(BUILD) scripts/run-tests check
check-quick:
	@$(MAKE) --no-print-directory -j$(JOBS) all unit
	@BUILD=$(BUILD) scripts/run-tests quick
check-long: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all unit
	@$(MAKE) --no-print-directory lint
	@BUILD=$(BUILD) scripts/run-tests long
check-san:
	@bash test/e2e/0189-sanitizers.sh
check-fresh:
	@scripts/check-fresh
check-deb: all
	@scripts/check-deb
check-container:
	@scripts/check-container
bench: all
	@BUILD=$(BUILD) scripts/bench $(ONLY)
lint: all
	@BUILD=$(BUILD) scripts/lint
install: all
	@BUILD=$(BUILD) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) VERSION=$(VERSION) scripts/install
deb: all
	@BUILD=$(BUILD) VERSION=$(VERSION) scripts/deb
tarball:
	@BUILD=$(BUILD) VERSION=$(VERSION) scripts/tarball
clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj $(BUILD)/rtobj -name '*.d' 2>/dev/null)
