// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay {

// Resident memory of this process in bytes, as the kernel counts it; pages shared with other
// processes count in each of them. NaN where it cannot be read.
double resident_bytes();
// Its peak since the process began, or since the last reset where the kernel allows one.
double peak_resident_bytes();
void reset_peak_resident();

// Bytes that this process can still take: what the machine has free, its control group allows and
// its own limits (RLIMIT_AS, RLIMIT_DATA) leave. Infinity where nothing of that can be read.
double available_bytes();

}  // namespace assay
