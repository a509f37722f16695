// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "lab/store/postgres.h"

namespace assay::lab {
namespace {

// Texts are ordered by their bytes, as SQLite does it and as the times in run_ids need it. What
// places of a series share is kept once; its key is a hash because a point may be longer than an
// index takes. `changes` counts writing transactions: what a live page looks at.
constexpr const char* kFirst = R"(
CREATE TABLE store (version integer NOT NULL, changes bigint NOT NULL);
INSERT INTO store VALUES (0, 0);
CREATE TABLE series (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text COLLATE "C" NOT NULL CONSTRAINT series_key UNIQUE,
  suite text COLLATE "C" NOT NULL, case_name text COLLATE "C" NOT NULL,
  point text COLLATE "C" NOT NULL, provider text COLLATE "C" NOT NULL,
  platform text COLLATE "C" NOT NULL, fingerprint text COLLATE "C" NOT NULL,
  cores bigint NOT NULL, isolation text COLLATE "C" NOT NULL);
CREATE TABLE attempt (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sequence bigint NOT NULL,
  run_id text COLLATE "C" NOT NULL, attempt_id text COLLATE "C" NOT NULL,
  series bigint NOT NULL,
  round bigint NOT NULL, try bigint NOT NULL, executed bigint NOT NULL,
  status text COLLATE "C" NOT NULL,
  line text COLLATE "C" NOT NULL);
CREATE UNIQUE INDEX attempt_identity ON attempt (run_id, attempt_id);
CREATE INDEX attempt_sequence ON attempt (run_id, sequence);
CREATE INDEX attempt_series ON attempt (series, run_id);
CREATE VIEW placed AS
  SELECT attempt.id, sequence, run_id, attempt_id, suite, case_name, point, provider, platform,
    fingerprint, cores, round, try, executed, status, isolation, line
  FROM attempt LEFT JOIN series ON series.id = attempt.series;
)";

constexpr auto kSteps = std::to_array<const char*>({kFirst});

}  // namespace

std::span<const char* const> postgres_steps() { return kSteps; }

}  // namespace assay::lab
