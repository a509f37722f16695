// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
// Verdicts, extremes, what changed last, the machines and their noise.
import {h, section, empty} from "./dom.js";
import {asideNote, visible} from "./aside.js";
import {TONE, commit} from "./cells.js";
import {table} from "./table.js";
import * as f from "./format.js";
import {link} from "./state.js";
import {caseLink} from "./view_results.js";

const ORDER = [
  "faster", "perhaps", "no difference", "slower", "baseline", "no interval", "expected", "wrong_result", "crashed",
  "out_of_memory", "timeout", "failed", "env_missing", "skipped", "excluded", "interrupted"
];
const WORDS = {
  baseline: "baselines",
  expected: "refused, as expected",
  no_interval: "no interval"
};

export function overview(model, _, redraw) {
  if (!model.rows.count) return nothing(model);
  return [
    h("h1", {}, model.title),
    h("p", {class: "lead"},
      [
        f.count(model.rows.count, "row"), f.count(model.runs.length, "run"),
        f.count(model.cases.length, "case"), f.count(model.machines.length, "machine")
      ].join(", ") +
          ". Newest run: ",
      h("span", {title: model.runTitle(model.runs.length - 1)},
        f.moment(model.runs[model.runs.length - 1].time) + " UTC, commit ",
        commit(model, model.runs.length - 1)),
      "."),
    notices(model),
    verdicts(model, redraw),
    h("div", {class: "two"}, extremes(model, "Worst ratios", "slower", "worst"),
      extremes(model, "Best ratios", "faster", "best")),
    changes(model),
    noise(model),
    runs(model),
  ];
}

function nothing(model) {
  return [
    h("h1", {}, model.title), notices(model),
    section(
        "No rows yet",
        empty(
            "The sources hold no rows. Measure something, then come back:",
            "assay run semiring_matmul --quick", "assay site --out site.html"))
  ];
}

function notices(model) {
  const all =
      [...model.warnings.map((text) => ["Warning: ", text]), ...model.caveats.map((text) => ["", text])];
  if (!all.length) return null;
  return h(
      "details", {class: "notices", open: model.warnings.length > 0},
      h("summary", {}, f.count(all.length, "thing") + " to keep in mind"),
      h("ul", {}, all.map(([kind, text]) => h("li", {}, kind ? h("strong", {}, kind) : null, text))));
}

function verdicts(model, redraw) {
  const counts = new Map();
  for (const s of visible(model.latest)) counts.set(s.class, (counts.get(s.class) || 0) + 1);
  return section(
      "Verdicts",
      h("p", {class: "note"},
        "The newest word on every provider at every point and machine; ratios are against the case's baseline, with 95 % intervals."),
      asideNote(model.latest, redraw),
      h("ul", {class: "tiles"},
        ORDER.filter((name) => counts.has(name))
            .map(
                (name) =>
                    h("li", {class: "tile " + (TONE[name] || "")},
                      h("a", {
                        href: link("results", "", {
                          "all.q": name === "no difference" || name === "no interval" ||
                                  name === "baseline" || name === "expected" ?
                              "" :
                              name,
                          class: name
                        })
                      },
                        h("b", {}, counts.get(name)),
                        h("span", {}, WORDS[name] || name.replace(/_/g, " ")))))));
}

// Those whose interval leaves no doubt, the farthest from 1 first.
function extremes(model, title, kind, id) {
  const far = (s) => Math.abs(Math.log(s.ratio));
  const decided = visible(model.latest).filter((s) => s.class === kind).sort((a, b) => far(b) - far(a)).slice(0, 8);
  return section(
      title, table({
        id,
        caption: title,
        filter: false,
        rows: decided,
        emptyText: `No provider is ${kind} than its baseline beyond its interval.`,
        columns: [
          {title: "Case", cell: (s) => caseLink(model, s), value: (s) => model.cases[s.case].name},
          {
            title: "Provider",
            cell: (s) =>
                [h("span", {class: "clip", title: s.provider}, s.provider),
                 s.unequal ? h("span", {class: "tag", title: "unequal work: " + s.unequal}, "unequal") :
                             null],
            value: (s) => s.provider
          },
          {
            title: "Ratio",
            unit: "[95 %]",
            number: true,
            value: (s) => s.ratio,
            cell: (s) => f.withInterval(s.ratio, s.ratio_low, s.ratio_high, f.ratio)
          },
        ],
      }));
}

function changes(model) {
  const list = model.history
                   .flatMap((series) => series.changes.map((cut) => {
                     return {...cut, s: series.of, run: series.points[cut.position].run};
                   }))
                   .sort((a, b) => b.run - a.run || b.ratio - a.ratio);
  const steps =
      model.history.filter((series) => series.last)
          .map((series) => ({...series.last, s: series.of, run: series.points[series.points.length - 1].run}))
          .filter((step) => step.differs)
          .sort((a, b) => b.run - a.run || Math.abs(Math.log(b.ratio)) - Math.abs(Math.log(a.ratio)));
  const
      columns =
          (extra) =>
              [{
                title: "Run",
                value: (c) => model.runs[c.run].id,
                cell: (c) =>
                    h("span", {title: model.runTitle(c.run)}, model.runLabel(c.run) + " ",
                      commit(model, c.run))
              },
               {
                 title: "Case",
                 value: (c) => model.cases[c.s.case].name,
                 cell: (c) =>
                     h("a", {
                       class: "clip",
                       href: link(
                           "history", model.cases[c.s.case].name,
                           {point: model.points[c.s.point].id, place: c.s.place}),
                       title: model.points[c.s.point].label
                     },
                       model.cases[c.s.case].name, h("small", {}, " " + model.points[c.s.point].label))
               },
               {
                 title: "Provider",
                 value: (c) => c.s.provider,
                 cell: (c) => h("span", {class: "clip", title: c.s.provider}, c.s.provider)
               },
               {title: "Machine", value: (c) => c.s.place, cell: (c) => model.machines[c.s.machine].name},
               ...extra,
  ];
  const changed = {
    title: "Change",
    number: true,
    hint: "new level over old level, of the case's primary metric",
    value: (c) => c.ratio,
    cell: (c) => tone(model, c)
  };
  return section(
      "What changed last", h("h3", {}, "Change points"),
      h("p", {class: "note"},
        "Where a series took a new level: levels fitted to the whole series, at least five runs each, tested against its noise; at most one in twenty series that are said to have changed did not."),
      model.history.length === 0 ?
          empty(
              "There is no series with two runs yet. Measure the same case again, at another commit:",
              "assay run semiring_matmul --quick") :
          table({
            id: "cp",
            caption: "Change points",
            rows: list,
            page: 10,
            emptyText: "No series changed its level.",
            columns: columns(
                [changed, {title: "p", number: true, value: (c) => c.p, cell: (c) => c.p.toPrecision(2)}])
          }),
      h("h3", {}, "Newest run against the one before"),
      h("p", {class: "note"},
        "Series whose newest two runs differ, all series judged together: at most one page in twenty names any by chance. The runs were made at different times, so whatever changed on the machine is part of a change."),
      table({
        id: "step",
        caption: "Newest run against the one before",
        rows: steps,
        page: 10,
        emptyText: "No series differs between its newest two runs.",
        columns: columns([{
          ...changed,
          title: "Change",
          unit: "[95 %]",
          cell: (c) => [tone(model, c), ` [${f.change(c.low)}, ${f.change(c.high)}]`]
        }])
      }));
}

function tone(model, c) {
  const worse = (c.ratio > 1) !== Boolean(model.cases[c.s.case].more_is_better);
  return h(
      "span", {class: worse ? "bad" : "good"}, f.change(c.ratio),
      h("span", {class: "hidden"}, worse ? " worse" : " better"));
}

function noise(model) {
  return section(
      "Noise of each machine", machineTable(model),
      h("p", {class: "note"},
        "In process, processes, runs: standard deviation of ln(time) within a process, between processes and between runs, median over series; between runs includes real changes. ",
        h("a", {href: link("calibration")}, "More on the calibration page"), "."));
}

export function machineTable(model) {
  return table({
    id: "noise",
    caption: "Noise of each machine",
    filter: false,
    rows: model.machines,
    columns: [
      {
        title: "Machine",
        value: (m) => m.name,
        cell: (m) => [h("strong", {}, m.name), " ", h("code", {}, f.short(m.fingerprint, 16))]
      },
      {
        title: "Processor",
        value: (m) => m.model,
        cell: (m) => h("span", {class: "clip", title: m.model}, m.model || "–")
      },
      {
        title: "Attempts",
        number: true,
        value: (m) => m.noise.attempts,
        cell: (m) => m.noise.attempts.toLocaleString("en")
      },
      {
        title: "In process",
        hint: "scatter between batches of one process",
        number: true,
        value: (m) => m.noise.within_process,
        cell: (m) => f.percent(m.noise.within_process, 2)
      },
      {
        title: "Processes",
        hint: "scatter between processes of one run",
        number: true,
        value: (m) => m.noise.between_processes,
        cell: (m) => f.percent(m.noise.between_processes, 2)
      },
      {
        title: "Runs",
        hint: "scatter between runs; holds real changes as well",
        number: true,
        value: (m) => m.noise.between_runs,
        cell: (m) => f.percent(m.noise.between_runs, 2)
      },
      {
        title: "Steal",
        unit: "most",
        number: true,
        value: (m) => m.noise.steal_most,
        cell: (m) => f.percent(m.noise.steal_most, 1)
      },
      {
        title: "Load",
        unit: "most",
        number: true,
        value: (m) => m.noise.load_most,
        cell: (m) => f.plain(m.noise.load_most, 2)
      },
      {title: "Excluded", number: true, value: (m) => m.noise.excluded, cell: (m) => m.noise.excluded},
    ],
  });
}

function runs(model) {
  return section(
      "Runs", table({
        id: "runs",
        caption: "Runs",
        rows: [...model.runs].reverse(),
        page: 10,
        columns: [
          {
            title: "Run",
            value: (r) => r.id,
            cell: (r) => h(
                "a", {href: link("runs", "", {to: r.id}), title: "Against another run: " + r.id},
                h("code", {class: "clip"}, r.id))
          },
          {title: "Time", unit: "UTC", value: (r) => r.time, cell: (r) => f.moment(r.time)},
          {
            title: "Commit",
            value: (r) => r.commit,
            cell: (r) =>
                [commit(model, r.index), r.dirty ? h("span", {class: "tag"}, "dirty") : null]
          },
          {
            title: "Branch",
            value: (r) => r.branch,
            cell: (r) => h("span", {class: "clip", title: r.branch}, r.branch || "–")
          },
          {
            title: "Label",
            value: (r) => r.label,
            cell: (r) => h("span", {class: "clip", title: r.label}, r.label || "–")
          },
          {title: "Machine", value: (r) => r.machine, cell: (r) => model.machines[r.machine].name},
          {title: "Rows", number: true, value: (r) => r.rows, cell: (r) => r.rows},
        ],
      }));
}
