/* The pieces of the C++ library that programs with threads call out of line. */
#include "../libc/model.h"

#include <pthread.h>

struct state {				 /* std::thread::_State */
	void (**vtable)(struct state *); /* destructor, deleting destructor, run */
};

static void *run_state(void *arg)
{
	struct state *s = arg;

	s->vtable[2](s);
	s->vtable[1](s);
	return NULL;
}

void _ZNSt6thread6_StateD2Ev(void *s);
void _ZNSt6thread6_StateD2Ev(void *s)
{
	(void)s;
}

void start_thread(pthread_t *self, struct state **state, void (*unused)(void)) __asm__(
	"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE");
void start_thread(pthread_t *self, struct state **state, void (*unused)(void))
{
	struct state *s = *state;

	(void)unused;
	*state = NULL;
	pthread_create(self, NULL, run_state, s);
}

void thread_join(pthread_t *self) __asm__("_ZNSt6thread4joinEv");
void thread_join(pthread_t *self)
{
	pthread_join(*self, NULL);
	*self = 0;
}
void thread_detach(pthread_t *self) __asm__("_ZNSt6thread6detachEv");
void thread_detach(pthread_t *self)
{
	pthread_detach(*self);
	*self = 0;
}
unsigned hardware(void) __asm__("_ZNSt6thread20hardware_concurrencyEv");
unsigned hardware(void)
{
	return 2;
}

struct unique_lock {
	pthread_mutex_t *mutex;
	_Bool owns;
};
void cv_new(pthread_cond_t *c) __asm__("_ZNSt18condition_variableC1Ev");
void cv_new(pthread_cond_t *c)
{
	pthread_cond_init(c, NULL);
}
void cv_delete(pthread_cond_t *c) __asm__("_ZNSt18condition_variableD1Ev");
void cv_delete(pthread_cond_t *c)
{
	pthread_cond_destroy(c);
}
void cv_wait(pthread_cond_t *c, struct unique_lock *l) __asm__(
	"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void cv_wait(pthread_cond_t *c, struct unique_lock *l)
{
	pthread_cond_wait(c, l->mutex);
}
void cv_one(pthread_cond_t *c) __asm__("_ZNSt18condition_variable10notify_oneEv");
void cv_one(pthread_cond_t *c)
{
	pthread_cond_signal(c);
}
void cv_all(pthread_cond_t *c) __asm__("_ZNSt18condition_variable10notify_allEv");
void cv_all(pthread_cond_t *c)
{
	pthread_cond_broadcast(c);
}

_Noreturn void throw_system(int e) __asm__("_ZSt20__throw_system_errori");
_Noreturn void throw_system(int e)
{
	(void)e;
	sym_refuse("std::system_error is thrown, which has no model");
}
_Noreturn void throw_alloc(void) __asm__("_ZSt17__throw_bad_allocv");
_Noreturn void throw_alloc(void)
{
	sym_refuse("std::bad_alloc is thrown, which has no model");
}
