// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "lab/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/philox.h"
#include "lab/beside/latest.h"
#include "lab/record/journal.h"
#include "lab/store/test_backends.h"
#include "lab/store/transfer.h"
#include "lab/testing/example_rows.h"

namespace assay::lab {
namespace {

using namespace testing_rows;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class StoreTest : public OverBackends {
 protected:
  std::unique_ptr<Store> open(const std::string& name = "assay.db") {
    return std::make_unique<Store>(url_of(name), Access::kCreate);
  }
  std::string write(const std::string& name, const std::string& text) {
    const auto path = dir_.path() + "/" + name;
    write_file_atomically(path, text);
    return path;
  }
  IngestReport add(Store& store, const std::vector<Row>& rows) {
    return ingest_lines(store, lines_of(rows), "test");
  }
  static std::vector<std::string> latest_lines(Store& store) {
    std::vector<std::string> lines;
    store.visit({.latest = true}, [&](std::string_view, std::string_view, std::string_view line) {
      lines.emplace_back(line);
    });
    return lines;
  }
  static std::vector<std::string> run_ids(Store& store) {
    std::vector<std::string> ids;
    for (const auto& run : store.runs()) ids.push_back(run.run_id);
    return ids;
  }
};

INSTANTIATE_TEST_SUITE_P(, StoreTest, kBackends, name_of_backend);

TEST_P(StoreTest, GivesAJournalBackByteForByte) {
  const auto store = open("results/deep/assay.db");
  auto rows = example_run("r1", 3);
  rows[1].unknown = {{"field_of_tomorrow", {1, 2.5, "ü"}}};
  std::swap(rows[2], rows[4]);  // the journal's order is not the order of anything in the rows
  const auto text = journal_text(rows);
  const auto report = ingest_journals(*store, {write("j.jsonl", text)});
  EXPECT_EQ(report.report.added, 6);
  EXPECT_THAT(report.warnings, IsEmpty());
  EXPECT_EQ(export_run(*store, "r1"), text);
  EXPECT_EQ(store->runs().at(0).rows, 6);
  EXPECT_THAT(store->verify(), IsEmpty());
}

TEST_P(StoreTest, TakesTheSameRowsOnce) {
  const auto store = open();
  const auto rows = example_run("r1", 4);
  EXPECT_EQ(add(*store, rows).added, 8);
  const auto again = add(*store, rows);
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.known, 8);
  auto twice = rows;
  twice.insert(twice.end(), rows.begin(), rows.end());
  EXPECT_EQ(add(*open("b.db"), twice).added, 8);
  EXPECT_EQ(export_run(*store, "r1"), journal_text(rows));
}

TEST_P(StoreTest, OtherContentUnderTheSameKeyIsRefusedAndNothingIsStored) {
  const auto store = open();
  auto rows = example_run("r1", 3);
  add(*store, {rows[0], rows[1]});
  rows[1].metrics["steady_time"] *= 2;
  EXPECT_THAT([&] { add(*store, rows); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("run 'r1'"), HasSubstr(rows[1].attempt_id),
                                             HasSubstr("other content"))));
  EXPECT_EQ(store->runs().at(0).rows, 2);
  // Also when both contents are in one batch.
  auto other = example_row({.run_id = "r2"});
  auto changed = other;
  changed.order = 9;
  EXPECT_THROW(add(*store, {other, changed}), UserError);
  EXPECT_THAT(run_ids(*store), ElementsAre("r1"));
  EXPECT_THAT(store->verify(), IsEmpty());
}

TEST_P(StoreTest, ARowTwiceInABatchDoesNotStandForAnother) {
  const auto rows = example_run("r1", 2);
  const auto store = open();
  add(*store, {rows[0], rows[1]});
  add(*store, {rows[0], rows[0], rows[2], rows[2]});
  EXPECT_EQ(export_run(*store, "r1"), journal_text({rows[0], rows[1], rows[2]}));
  EXPECT_THAT(store->verify(), IsEmpty());
}

// A journal that is still growing is taken in after any number of rows, even by several hands.
TEST_P(StoreTest, AGrowingJournalKeepsItsOrder) {
  const auto rows = example_run("r1", 5);
  for (std::size_t first = 0; first <= rows.size(); ++first) {
    const auto store = open(fmt::format("{}.db", first));
    const auto cut = rows.begin() + static_cast<std::ptrdiff_t>(first);
    add(*store, {rows.begin(), cut});
    EXPECT_EQ(add(*store, rows).known, static_cast<std::int64_t>(first));
    EXPECT_EQ(export_run(*store, "r1"), journal_text(rows));
    EXPECT_THAT(store->verify(), IsEmpty());
  }
}

TEST_P(StoreTest, AWholeJournalPutsPartsInOrder) {
  const auto rows = example_run("r1", 5);
  const auto store = open();
  add(*store, {rows[7], rows[2]});
  add(*store, {rows[4]});
  add(*store, rows);
  EXPECT_EQ(export_run(*store, "r1"), journal_text(rows));
  EXPECT_THAT(store->verify(), IsEmpty());
  // A part adds to the end, and a second order of the same rows changes nothing.
  auto reversed = rows;
  std::ranges::reverse(reversed);
  add(*store, reversed);
  EXPECT_EQ(export_run(*store, "r1"), journal_text(rows));
}

// A journal in pieces, with rows twice and rows that are there: what the store makes of it as a
// whole.
TEST_P(StoreTest, TheOrderOfAJournalDoesNotDependOnItsPieces) {
  const auto rows = example_run("r1", 5);
  const Philox random(1, stream_key("pieces"));
  std::uint64_t draw = 0;
  const auto pick = [&](std::size_t bound) { return uniform_below(random[draw++], bound); };
  for (int history = 0; history < 20; ++history) {
    std::vector<Row> before, journal = rows;
    for (const auto& row : rows) {
      if (pick(3) == 0) before.push_back(row);
    }
    for (auto twice = pick(4); twice > 0; --twice) {
      journal.insert(journal.begin() + static_cast<std::ptrdiff_t>(pick(journal.size())),
                     journal[pick(journal.size())]);
    }
    for (auto swaps = pick(4); swaps > 0; --swaps) {
      std::swap(journal[pick(journal.size())], journal[pick(journal.size())]);
    }
    if (pick(3) == 0) journal.erase(journal.begin(), journal.begin() + 3);
    const auto whole = open(fmt::format("{}.db", history));
    const auto pieces = open(fmt::format("{}p.db", history));
    for (Store* store : {whole.get(), pieces.get()}) add(*store, before);
    const auto wanted = add(*whole, journal);
    auto lines = lines_of(journal);
    std::span<const std::string> left = lines;
    const auto report = pieces->ingest([&]() -> std::optional<Batch> {
      const auto piece = left.first(std::min(left.size(), 1 + pick(4)));
      const bool continues = left.size() < lines.size();
      left = left.subspan(piece.size());
      if (piece.empty()) return std::nullopt;
      return Batch{{piece.begin(), piece.end()}, "p", [](std::size_t) { return "p"; }, continues};
    });
    EXPECT_EQ(report.added, wanted.added);
    EXPECT_EQ(report.known, wanted.known);
    EXPECT_EQ(export_run(*pieces, "r1"), export_run(*whole, "r1"));
    EXPECT_THAT(pieces->verify(), IsEmpty());
  }
  // The second content of a key is told as one of the journal's own.
  auto other = rows[0];
  other.order = 99;
  const auto lines = lines_of({rows[0], other});
  std::size_t next = 0;
  EXPECT_THAT(
      [&] {
        open()->ingest([&]() -> std::optional<Batch> {
          if (next == lines.size()) return std::nullopt;
          return Batch{{lines[next]}, "p", [](std::size_t) { return "p"; }, next++ > 0};
        });
      },
      ThrowsMessage<UserError>(HasSubstr("is there twice, with different content")));
}

TEST_P(StoreTest, WhoDoesNotWaitIsToldThatAnotherWrites) {
  const auto writer = open(), other = open();
  const auto r1 = lines_of(example_run("r1", 2)), r2 = lines_of(example_run("r2", 2));
  int batches = 0;
  writer->ingest([&]() -> std::optional<Batch> {
    if (++batches > 2) return std::nullopt;
    if (batches == 2) {  // the lock is held by now
      EXPECT_THROW(ingest_lines(*other, r2, "test", Patience::kNone), StoreBusy);
    }
    return Batch{r1, "test", [](std::size_t) { return "test"; }};
  });
  EXPECT_EQ(ingest_lines(*other, r2, "test", Patience::kNone).added, 4);
  EXPECT_EQ(run_ids(*other), (std::vector<std::string>{"r1", "r2"}));
}

TEST_P(StoreTest, ATornTailIsAWarning) {
  const auto rows = example_run("r1", 2);
  const auto path = write("j.jsonl", journal_text(rows) + "{\"schema\":1,\"att");
  const auto store = open();
  const auto transfer = ingest_journals(*store, {path});
  EXPECT_EQ(transfer.report.added, 4);
  EXPECT_THAT(transfer.warnings, ElementsAre(HasSubstr(path)));
}

TEST_P(StoreTest, OneBadJournalOfSeveralStoresNone) {
  const auto store = open();
  auto damaged = journal_text(example_run("r2", 2));
  damaged[30] ^= 1;
  EXPECT_THAT(
      [&] {
        ingest_journals(*store, {write("a.jsonl", journal_text(example_run("r1", 2))),
                                 write("b.jsonl", damaged)});
      },
      ThrowsMessage<UserError>(HasSubstr("b.jsonl:1")));
  EXPECT_THAT(store->runs(), IsEmpty());
}

// 1e-05 and 1E-05 are the same number, but not the same text, and the text is what is stored.
TEST_P(StoreTest, ALineWhoseTextWasChangedButNotItsValueIsRefused) {
  auto line = row_to_line(example_row({.time = 1e-5}));
  const auto at = line.find("e-05");
  ASSERT_NE(at, std::string::npos);
  line[at] = 'E';
  const auto store = open();
  EXPECT_THAT(
      [&] {
        ingest_lines(*store, {&line, 1}, "test");
      },
      ThrowsMessage<UserError>(HasSubstr("not as it was written")));
}

TEST_P(StoreTest, ALineThatWasGivenTheEndOfAnotherSystemSaysSo) {
  const auto line = row_to_line(example_row({})) + "\r";
  const auto store = open();
  EXPECT_THAT(
      [&] {
        ingest_lines(*store, {&line, 1}, "test");
      },
      ThrowsMessage<UserError>(HasSubstr("carriage return")));
}

// What `verify` calls damaged is refused before it is there: SQLite reads it otherwise than we do.
TEST_P(StoreTest, ARowThatVerifyWouldCallDamagedIsRefusedByItsLineAndField) {
  const auto whole = unchecked_text(row_to_line(example_row({})));
  const std::tuple<const char*, const char*, const char*> changes[] = {
      {"\"isolation\":\"process\"", "\"isolation\":7",
       "key 'isolation' must be of type string, got 7"},
      {"\"isolation\":\"process\"", "\"isolation\":\"pro\\u0000cess\"",
       "key 'isolation' has a NUL character: \"pro\\u0000cess\""},
      {"\"isolation\":\"process\"", "\"isolation\":\"x\",\"isolation\":\"process\"",
       "repeated key \"isolation\""},
      {"\"try\":0", "\"try\":0,\"try\":1", "repeated key \"try\""},
      {"\"seed\":0", "\"seed\":0,\"seed\":1", "repeated key \"seed\""},
  };
  const auto url = url_of("assay.db");
  const auto store = std::make_unique<Store>(url, Access::kCreate);
  const auto sound = std::make_unique<Store>(url_of("sound.db"), Access::kCreate);
  add(*store, {example_row({})});
  for (const auto& [what, by, said] : changes) {
    auto text = whole;
    const auto at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    const auto line = checked_line(text.replace(at, std::string(what).size(), by));
    EXPECT_THAT(
        [&] {
          ingest_lines(*sound, {&line, 1}, "j:3");
        },
        ThrowsMessage<UserError>(AllOf(HasSubstr("j:3"), HasSubstr(said))));
    // In a store that an older program made.
    change(url, fmt::format("UPDATE attempt SET line = '{}'", line));
    EXPECT_THAT(store->verify(), ElementsAre(Field(&Problem::message, HasSubstr(said))));
  }
  EXPECT_THAT(sound->runs(), IsEmpty());
}

TEST_P(StoreTest, LatestIsTheNewestRunPerKeyWithAllItsRounds) {
  const auto store = open();
  const auto a1 = example_run("r1", 2, 64), a2 = example_run("r2", 3, 64);
  const auto b1 = example_run("r1", 1, 128);
  for (const auto& rows : {a2, a1, b1}) add(*store, rows);
  auto wanted = lines_of(b1);
  const auto newest = lines_of(a2);
  wanted.insert(wanted.end(), newest.begin(), newest.end());
  EXPECT_EQ(latest_lines(*store), wanted);

  // Another machine is another key.
  const auto elsewhere = example_row({.run_id = "r0", .fingerprint = "ffff"});
  add(*store, {elsewhere});
  EXPECT_EQ(latest_lines(*store).front(), row_to_line(elsewhere));
}

TEST_P(StoreTest, AVoidRunHidesNothing) {
  const auto store = open();
  const auto good = example_row({.run_id = "r1"});
  const auto interrupted = example_row({.run_id = "r2", .status = Status::kInterrupted});
  add(*store, {good, interrupted});
  EXPECT_THAT(latest_lines(*store), ElementsAre(row_to_line(good)));
  const auto crashed = example_row({.run_id = "r3", .status = Status::kCrashed});
  add(*store, {crashed});
  EXPECT_THAT(latest_lines(*store), ElementsAre(row_to_line(crashed)));
}

// A few random histories: what SQL says is what the plain function says, and pruning keeps it.
TEST_P(StoreTest, LatestAgreesWithThePlainFunctionAndSurvivesPruning) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Philox random(seed, stream_key("history"));
    std::vector<Row> rows;
    std::uint64_t i = 0;
    for (int order = 0; order < 40; ++order) {
      const auto pick = [&](std::uint64_t bound) {
        return static_cast<int>(uniform_below(random[i++], bound));
      };
      const Status statuses[] = {Status::kOk, Status::kOk, Status::kInterrupted, Status::kFailed};
      const auto row = example_row({.provider = fmt::format("p{}", pick(3)),
                                    .round = order,
                                    .run_id = fmt::format("r{}", pick(5)),
                                    .n = 1 + pick(2),
                                    .status = statuses[pick(4)],
                                    .isolation = pick(3) == 0 ? "in-process" : "process",
                                    .order = order});
      rows.push_back(row);
    }
    std::ranges::stable_sort(rows, {}, &Row::run_id);
    const auto store = open(fmt::format("{}.db", seed));
    add(*store, rows);
    const auto wanted = lines_of(latest_rows(rows));
    EXPECT_EQ(latest_lines(*store), wanted);
    const auto before = run_ids(*store);
    const auto report = store->prune(1 + static_cast<int>(seed % 2));
    EXPECT_EQ(latest_lines(*store), wanted);
    EXPECT_EQ(report.runs_kept + report.runs_removed, static_cast<std::int64_t>(before.size()));
    for (const auto& run : run_ids(*store)) {  // whole, or not there at all
      auto of_run = rows;
      std::erase_if(of_run, [&](const Row& row) { return row.run_id != run; });
      EXPECT_EQ(export_run(*store, run), journal_text(of_run));
    }
    EXPECT_THAT(store->verify(), IsEmpty());
  }
}

TEST_P(StoreTest, PruneKeepsTheNewestRunsOfEveryKey) {
  const auto store = open();
  for (const char* run : {"r1", "r2", "r3", "r4"}) add(*store, example_run(run, 2, 64));
  add(*store, example_run("r1", 1, 128));  // the only one at this point
  add(*store, {example_row({.run_id = "r0", .n = 64, .status = Status::kInterrupted})});
  const auto report = store->prune(2);
  EXPECT_THAT(run_ids(*store), ElementsAre("r1", "r3", "r4"));
  EXPECT_EQ(report.runs_removed, 2);
  EXPECT_EQ(report.rows_removed, 5);
  EXPECT_EQ(store->runs().at(0).rows, 6);  // all of r1, its rows at n = 64 too
  EXPECT_EQ(store->prune(2).runs_removed, 0);
  EXPECT_THAT([&] { store->prune(0); }, ThrowsMessage<UserError>(HasSubstr("got 0")));
  EXPECT_THAT(store->verify(), IsEmpty());
}

TEST_P(StoreTest, MergeTakesEverythingOrNothing) {
  const auto a = open("a.db"), b = open("b.db");
  add(*a, example_run("r1", 2));
  add(*b, example_run("r1", 3));
  add(*b, example_run("r2", 1));
  const auto report = merge_store(*a, *b);
  EXPECT_EQ(report.added, 4);
  EXPECT_EQ(report.known, 4);
  EXPECT_EQ(export_run(*a, "r1"), export_run(*b, "r1"));
  EXPECT_EQ(merge_store(*a, *b).added, 0);
  EXPECT_EQ(merge_store(*a, *open("a.db")).added, 0);  // with itself

  auto conflicting = example_run("r2", 1);
  conflicting[1].order = 77;
  const auto c = open("c.db");
  add(*c, example_run("r0", 1));
  add(*c, conflicting);
  EXPECT_THAT([&] { merge_store(*a, *c); }, ThrowsMessage<UserError>(HasSubstr("run 'r2'")));
  EXPECT_THAT(run_ids(*a), ElementsAre("r1", "r2"));
}

TEST_P(StoreTest, ExportsAllRunsAndOverwritesNoOtherJournal) {
  const auto store = open();
  const auto r1 = example_run("r1", 2), r2 = example_run("r2", 1);
  add(*store, {r1[0], r1[1]});
  add(*store, r2);
  const auto folder = dir_.path() + "/out";
  EXPECT_THAT(export_all(*store, folder), ElementsAre(folder + "/r1.jsonl", folder + "/r2.jsonl"));
  add(*store, r1);
  export_all(*store, folder);  // r1 has grown
  EXPECT_EQ(read_file(folder + "/r1.jsonl"), journal_text(r1));

  write_file_atomically(folder + "/r2.jsonl", journal_text(example_run("r2", 4)));
  EXPECT_THAT([&] { export_all(*store, folder); }, ThrowsMessage<UserError>(HasSubstr("r2.jsonl")));
  EXPECT_EQ(read_file(folder + "/r2.jsonl"), journal_text(example_run("r2", 4)));
  EXPECT_THAT([&] { export_run(*store, "r9"); }, ThrowsMessage<UserError>(HasSubstr("'r9'")));

  int evils = 0;
  for (const char* evil : {"../evil", "a/b", ".hidden", "", "new\nline"}) {
    const auto other = open(fmt::format("evil{}.db", ++evils));
    add(*other, {example_row({.run_id = evil})});
    EXPECT_THROW(export_all(*other, folder), UserError) << evil;
  }
}

TEST_P(StoreTest, IsBuiltFromAFolderOfJournals) {
  const auto r1 = example_run("r1", 2), r2 = example_run("r2", 3);
  std::filesystem::create_directory(dir_.path() + "/j");
  write("j/b.jsonl", journal_text(r1));
  write("j/a.jsonl", journal_text(r2) + "{\"torn");
  write("j/notes.txt", "not a journal");
  const auto store = open();
  const auto transfer = ingest_journals(*store, journals_in(dir_.path() + "/j"));
  EXPECT_EQ(transfer.report.added, 10);
  EXPECT_EQ(transfer.warnings.size(), 1u);
  EXPECT_EQ(export_run(*store, "r2"), journal_text(r2));
  EXPECT_EQ(store->runs().size(), 2u);

  write("j/c.jsonl", "{}\n");
  const auto other = open("other.db");
  EXPECT_THROW(ingest_journals(*other, journals_in(dir_.path() + "/j")), UserError);
  EXPECT_THAT(other->runs(), IsEmpty());
  std::filesystem::create_directory(dir_.path() + "/empty");
  EXPECT_THAT([&] { journals_in(dir_.path() + "/empty"); },
              ThrowsMessage<UserError>(HasSubstr("no journal")));
}

// The size a busy laboratory reaches in a week. The time is for whoever reads the log; what is
// asserted is that nothing is lost.
TEST_P(StoreTest, TenThousandRows) {
  std::vector<Row> rows;
  for (int i = 0; i < 100; ++i) {
    const auto run = example_run("20260101T000000.000000Z-abc1234", 50, i);
    rows.insert(rows.end(), run.begin(), run.end());
  }
  const auto text = journal_text(rows);
  const auto path = write("big.jsonl", text);
  const auto store = open();
  const auto seconds = [](auto&& work) {
    const auto start = monotonic_ns();
    work();
    return static_cast<double>(monotonic_ns() - start) * 1e-9;
  };
  const double reading = seconds([&] { read_journal(path); });
  const double all = seconds([&] { ingest_journals(*store, {path}); });
  std::cout << fmt::format("{} rows of {} bytes: ingested in {:.3f} s, {:.3f} s of it reading\n",
                           rows.size(), text.size() / rows.size(), all, reading);
  EXPECT_EQ(export_run(*store, rows[0].run_id), text);
}

}  // namespace
}  // namespace assay::lab
