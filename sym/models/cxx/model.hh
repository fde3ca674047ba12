// sym/models/cxx/model.hh - what the machine provides to the models that are written in C++.
#ifndef MODEL_HH
#define MODEL_HH

#define _Noreturn [[noreturn]]
extern "C" {
#include "../libc/model.h"
}
#undef _Noreturn

#endif
