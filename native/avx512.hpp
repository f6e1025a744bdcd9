// Conversions for processors with AVX-512: 32 elements at a time in 16-bit lanes.
//
// The compiler does not make 16-bit lanes of variable shifts, which all conversions of floats
// need, so these few loops are written with intrinsics. They do what convert.cpp and encode.cpp
// do on every processor.
#pragma once

#include "convert.hpp"

namespace lanewise {

// Kernels for this processor, or null where there is none: then the portable ones are used.
Conversion::Run avx512_arithmetic(const Conversion& conversion);
Conversion::Run avx512_look_up(const Conversion& conversion);

// Whether 16-bit sources are better converted by arithmetic than through a table of 65536 entries.
bool has_avx512();

}  // namespace lanewise
