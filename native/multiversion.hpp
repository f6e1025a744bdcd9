// One binary, several instruction sets: the dynamic loader picks the best clone of a function.
#pragma once

#include <cstddef>  // any C library header, so that __GLIBC__ is known

// GCC resolves clones through glibc's indirect functions. Clang and other architectures get the
// plain function (the baseline of arm64 already has its vector unit).
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ >= 12
#define LANEWISE_MULTIVERSION \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#endif
#ifndef LANEWISE_MULTIVERSION
#define LANEWISE_MULTIVERSION
#endif

#define LANEWISE_INLINE inline __attribute__((always_inline))
