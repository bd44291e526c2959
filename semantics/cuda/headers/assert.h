/* Assertions, as the standard has them: what `assert` is depends on NDEBUG each time this is included. One that is
   defined on the command line stays what it is. */
#if defined(assert) && !defined(__w_ours)
#define __w_given
#endif
#ifndef __w_given
#define __w_ours
#undef assert
#ifdef NDEBUG
#define assert(...) ((void)0)
#else
#define assert(...) __w_assert(static_cast<bool>(__VA_ARGS__))
#endif
#endif
