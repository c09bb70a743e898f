// STRATA_ADDRESS_SANITIZER, if this is compiled with it: g++ and clang say so in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define STRATA_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STRATA_ADDRESS_SANITIZER
#endif
#endif
