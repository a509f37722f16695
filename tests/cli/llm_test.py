# SPDX-FileCopyrightText: The Assay authors
# SPDX-License-Identifier: Apache-2.0
"""assay llm as a user types it."""

import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

from assay_cli import ALONE, ASSAY, CliTest, main

FAMILIES = ("llama", "qwen3", "gemma3", "qwen3-moe", "gemma4")


class Llm(CliTest):
    def init(self, family="qwen3", *more):
        path = self.path(f"model-{family}")
        if not os.path.exists(path):
            self.run_ok("llm", "init", "--family", family, "--size", "tiny", "--out", path, *more)
        return path

    def generate(self, model, *more):
        return self.run_ok("llm", "generate", "--model", model, "--tokens", "1,2,3", *more)

    def refused(self, *words):
        result = self.assay(*words)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr

    def test_every_family_says_something(self):
        for family in FAMILIES:
            with self.subTest(family):
                model = self.init(family)
                result = self.generate(model, "--max-tokens", "5")
                tokens = [int(token) for token in result.stdout.split(",")]
                self.assertEqual(len(tokens), 5)
                self.assertRegex(result.stderr, r"^3 read, first token after .*; 4 more at .*tokens/s")
                again = json.loads(self.generate(model, "--max-tokens", "5", "--json", "--chunk", "1").stdout)
                self.assertEqual(again["tokens"], tokens)
                self.assertEqual(again["stop"], "max-tokens")
                self.assertEqual(again["weights_copied_bytes"], 0)
                streamed = self.generate(model, "--max-tokens", "5", "--stream", "--threads", "1")
                self.assertEqual(streamed.stdout, result.stdout)

    def test_a_text_for_a_text(self):
        for family in ("llama", "qwen3", "gemma3"):
            with self.subTest(family):
                ask = ("llm", "generate", "--model", self.init(family), "--max-tokens", "20", "--prompt", "Grüße, 世界")
                told = json.loads(self.run_ok(*ask, "--json", "--ignore-end").stdout)
                ids = self.run_ok("llm", "tokenize", "--model", self.init(family), "--text", "Grüße, 世界").stdout
                self.assertEqual(told["prompt"], [int(token) for token in ids.split()])
                self.assertEqual(len(told["tokens"]), 20)
                plain = self.run_ok(*ask, "--ignore-end").stdout
                # Python reads every kind of line end as one.
                self.assertEqual(plain, (told["text"] + "\n").replace("\r\n", "\n").replace("\r", "\n"))
                self.assertEqual(self.run_ok(*ask, "--ignore-end", "--stream").stdout, plain)
                same = self.run_ok("llm", "generate", "--model", self.init(family), "--max-tokens", "20", "--ignore-end",
                                   "--tokens", ",".join(str(token) for token in told["prompt"])).stdout  # fmt: skip
                self.assertEqual([int(token) for token in same.split(",")], told["tokens"])

    def test_sampling_is_decided_by_the_seed(self):
        model = self.init()
        sample = ("--temperature", "1.5", "--top-k", "50", "--top-p", "0.9", "--max-tokens", "12", "--seed")
        first = self.generate(model, *sample, "1").stdout
        self.assertEqual(self.generate(model, *sample, "1").stdout, first)
        self.assertNotEqual(self.generate(model, *sample, "2").stdout, first)

    def test_ends_where_the_model_says(self):
        model = self.init("llama")
        tokens = json.loads(self.generate(model, "--max-tokens", "4", "--json").stdout)["tokens"]
        with open(os.path.join(model, "generation_config.json"), "w") as file:
            json.dump({"eos_token_id": [tokens[1]]}, file)
        ended = json.loads(self.generate(model, "--max-tokens", "4", "--json").stdout)
        self.assertEqual(ended["stop"], "end-token")
        self.assertEqual(ended["tokens"], tokens[: tokens.index(tokens[1]) + 1])
        more = json.loads(self.generate(model, "--max-tokens", "4", "--json", "--ignore-end").stdout)
        self.assertEqual(more["tokens"], tokens)
        full = json.loads(self.generate(model, "--ignore-end", "--json", "--context", "5").stdout)
        self.assertEqual(full["stop"], "context")
        self.assertEqual(len(full["tokens"]), 3)

    def test_interrupted_it_keeps_what_was_said(self):
        model = self.init("gemma4")
        endless = [ASSAY, "llm", "generate", "--model", model, "--tokens", "1,2,3", "--max-tokens", "2000",
                   "--ignore-end", "--stream"]  # fmt: skip
        for end in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
            begin = process.stdout.read(1)  # something was said
            process.send_signal(end)
            rest, errors = process.communicate(timeout=300)
            errors = errors.decode()
            self.assertEqual(process.returncode, 130, errors)
            said = (begin + rest).decode().strip().split(",")
            self.assertTrue(all(token.isdigit() for token in said))
            self.assertLess(len(said), 2000)
            self.assertIn("stopped by interrupted", errors)
        # Nobody listens any more.
        process = subprocess.Popen(endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        process.stdout.read(1)
        process.stdout.close()
        self.assertIn("stopped by interrupted", process.stderr.read().decode())
        process.stderr.close()
        self.assertNotEqual(process.wait(timeout=300), 0)

    def test_what_is_no_prompt_or_does_not_fit_is_refused(self):
        model = self.init("llama")
        for arguments, status, says in [
            (("--tokens", ""), 2, "a token is a number"),
            (("--tokens", "1", "--chat"), 2, "--chat is about a --prompt"),
        ]:
            result = self.assay("llm", "generate", "--model", model, *arguments)
            self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
            self.assertIn(says, result.stderr)
        config = os.path.join(model, "config.json")
        with open(config) as file:
            fields = json.load(file)
        fields["max_position_embeddings"] = 1 << 27
        with open(config, "w") as file:
            json.dump(fields, file)
        result = subprocess.run(
            ["sh", "-c", 'ulimit -v 8000000; exec "$@"', "sh", ASSAY, "llm", "generate", "--model", model,
             "--tokens", "1", "--context", str(1 << 27)],
            capture_output=True, text=True, timeout=300)  # fmt: skip
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn(f"a context of {1 << 27} tokens takes", result.stderr)

    def chat(self, model, said, *more):
        """The answers, and what was told of them."""
        result = self.run_ok("llm", "chat", "--model", model, "--max-tokens", "12", *more, input=said)
        return result.stdout, result.stderr

    def answers(self, model, said, *more):
        return [json.loads(line) for line in self.chat(model, said, "--json", *more)[0].split("\n")[:-1]]

    def test_a_conversation(self):
        for family in FAMILIES:
            with self.subTest(family):
                model = self.init(family)
                first, second, third = self.answers(model, "Hello!\nAnd you?\n/reset\nHello!\n", "--system", "Be kind.")
                # The first as one prompt.
                alone = json.loads(self.run_ok("llm", "generate", "--model", model, "--prompt", "Hello!", "--chat", "--system",
                                               "Be kind.", "--max-tokens", "12", "--json").stdout)  # fmt: skip
                self.assertEqual(first["tokens"], alone["tokens"])
                self.assertEqual(first["prompt_tokens"], len(alone["prompt"]))
                self.assertEqual(first["reused_tokens"], 0)
                # The next goes on from what is there; begun anew, the same question has the same answer, and the
                # prompt is all there but for its last token.
                self.assertGreaterEqual(second["reused_tokens"], first["prompt_tokens"] - 2)
                self.assertGreater(second["prompt_tokens"], first["prompt_tokens"] + 11)
                self.assertEqual(third["tokens"], first["tokens"])
                self.assertEqual(third["reused_tokens"], first["prompt_tokens"] - 1)
                self.assertEqual(third["message"], "Hello!")
                plain, told = self.chat(model, "Hello!\nAnd you?\n", "--system", "Be kind.")
                said = first["text"] + "\n" + second["text"] + "\n"
                self.assertEqual(plain, said.replace("\r\n", "\n").replace("\r", "\n"))
                self.assertRegex(told, r"(?s)^\d+ read, 0 kept; first token after .*tokens/s; stopped by .*\d+ read, [1-9]")

    def test_lines_and_commands_of_a_conversation(self):
        model = self.init("qwen3")
        sampled = ("--temperature", "1", "--seed", "3")
        lines = self.answers(model, "one\\\ntwo\r\n\n/regen\n/exit\nnever\n", *sampled)
        self.assertEqual([line["message"] for line in lines], ["one\ntwo", "one\ntwo"])
        self.assertNotEqual(lines[0]["tokens"], lines[1]["tokens"])
        self.assertIn("/reset", self.chat(model, "/help\n")[1])
        self.assertEqual(self.chat(model, "")[0], "")

        def refused(said, *more):
            result = self.assay("llm", "chat", "--model", model, *more, input=said)
            self.assertEqual(result.returncode, 2, result.stderr)
            return result.stderr

        self.assertIn("no such command: /frob", refused("/frob\n"))
        self.assertIn("nothing was asked yet", refused("/regen\n"))
        self.assertRegex(refused("a b c d e f g h\n", "--context", "8"), "has .* tokens, and the context holds 8: begin anew")
        with open(os.path.join(model, "chat_template.jinja"), "w") as file:
            file.write("{% for m in messages %}\n{{ m.content }}\n{{ raise_exception('never') }}{% endfor %}")
        self.assertIn("chat_template.jinja: line 3: the template says: never", refused("x\n"))
        with open(os.path.join(model, "chat_template.jinja"), "w") as file:
            file.write("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
        self.assertIn("chat_template.jinja: line 1: the template takes too much", refused("x\n"))
        os.remove(os.path.join(model, "chat_template.jinja"))
        os.remove(os.path.join(model, "tokenizer_config.json"))
        self.assertIn("no chat template", refused("x\n"))

    def test_an_answer_that_is_interrupted_stays(self):
        model = self.init("qwen3")
        process = subprocess.Popen(
            [ASSAY, "llm", "chat", "--model", model, "--max-tokens", "1000"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)  # fmt: skip
        process.stdin.write(b"Hello!\n")
        process.stdout.read(1)  # something was said
        process.send_signal(signal.SIGINT)
        first = process.stderr.readline().decode()
        self.assertIn("stopped by interrupted", first)
        # What is printed of the first answer is there before that line.
        os.set_blocking(process.stdout.fileno(), False)
        self.assertTrue(process.stdout.read().endswith(b"\n"))
        os.set_blocking(process.stdout.fileno(), True)
        process.stdin.write(b"And now?\n")
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        second = process.stderr.readline().decode()
        process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0)
        kept = int(second.split(" read, ")[1].split()[0])
        self.assertGreaterEqual(kept, int(first.split()[0]))

    def test_the_prompt_of_messages(self):
        model = self.init("gemma3")
        talk = self.write("talk.json", json.dumps([{"role": "system", "content": "S"}, {"role": "user", "content": " Ü "}]))
        text = self.run_ok("llm", "prompt", "--model", model, "--messages", talk).stdout
        self.assertEqual(text, "<bos><start_of_turn>user\nS\n\nÜ<end_of_turn>\n<start_of_turn>model\n")
        self.assertIn("talk.json", self.refused("llm", "prompt", "--model", model, "--messages", self.write("talk.json", "[")))

    def test_sampling_as_the_folder_says(self):
        model = self.init("llama")
        greedy = self.generate(model).stdout
        name = os.path.join(model, "generation_config.json")

        def configured(**fields):
            with open(name, "w") as file:
                json.dump(fields, file)

        configured(do_sample=True, temperature=2.0, top_k=100, top_p=0.99)
        sampled = self.generate(model).stdout
        self.assertNotEqual(sampled, greedy)
        self.assertEqual(self.generate(model, "--temperature", "2", "--top-k", "100", "--top-p", "0.99").stdout, sampled)
        self.assertEqual(self.generate(model, "--temperature", "0").stdout, greedy)
        self.assertEqual(self.generate(model, "--top-k", "1").stdout, greedy)
        configured(do_sample=True, temperature=2.0)  # 50, as transformers has it
        unsaid = self.generate(model).stdout
        configured()
        self.assertEqual(self.generate(model, "--temperature", "2", "--top-k", "50").stdout, unsaid)
        configured(stop_strings=["."])
        self.assertIn("stop_strings", self.refused("llm", "generate", "--model", model, "--tokens", "1"))
        configured(repetition_penalty=50.0)
        tokens = self.generate(model).stdout.strip().split(",")
        self.assertEqual(len(set(tokens)), len(tokens))
        configured(num_beams=4)
        self.assertIn("generation_config.json: num_beams: supported is 1, got 4",
                      self.refused("llm", "generate", "--model", model, "--tokens", "1"))  # fmt: skip
        configured(do_sample=True, top_p=1.5)
        self.assertIn("not 1.5", self.refused("llm", "generate", "--model", model, "--tokens", "1"))

    def test_explained(self):
        model = self.init()
        text = self.run_ok("llm", "explain", "--model", model, "--dot", self.path("p.dot"),
                           "--trace", self.path("t.json")).stdout  # fmt: skip
        for word in ("matmul", "attention", "measured", "arena"):
            self.assertIn(word, text)
        with open(self.path("t.json")) as file:
            json.load(file)
        told = json.loads(self.run_ok("llm", "explain", "--model", model, "--new", "16", "--cached", "0",
                                      "--json").stdout)  # fmt: skip
        self.assertTrue(told["kernels"])

    def test_bad_words_are_named(self):
        model = self.init()
        ask = ("llm", "generate", "--model", model, "--tokens")
        self.assertIn("'gpt' is none of llama", self.refused("llm", "init", "--family", "gpt", "--out", "x"))
        self.assertIn("'9b' is none of tiny", self.refused("llm", "init", "--family", "qwen3", "--size", "9b", "--out", "x"))
        self.assertIn("not i8", self.refused("llm", "init", "--family", "qwen3", "--dtype", "i8", "--out", "x"))
        self.assertIn(f"already in '{model}'", self.refused("llm", "init", "--family", "qwen3", "--out", model))
        self.assertIn("not 512", self.refused(*ask, "1,512"))
        self.assertIn("not -3", self.refused(*ask, "1,-3"))
        self.assertIn("not 0", self.refused(*ask, "1", "--max-tokens", "0"))
        self.assertIn("not 4000", self.refused(*ask, "1", "--context", "4000"))
        self.assertIn("not 0", self.refused(*ask, "1", "--chunk", "0"))
        self.assertIn("does not hold 3 more", self.refused(*ask, "1,2,3", "--context", "2"))
        self.assertIn("not -1", self.refused(*ask, "1", "--temperature", "-1"))
        self.assertIn("not 2", self.refused(*ask, "1", "--top-p", "2"))
        self.assertIn("--prompt or by --tokens", self.refused(*ask[:-1]))
        self.assertIn("--prompt", self.refused(*ask, "1", "--prompt", "x"))
        os.remove(os.path.join(model, "tokenizer.json"))
        self.assertIn("tokenizer.json", self.refused(*ask[:-1], "--prompt", "x"))
        self.assertIn("nowhere/config.json", self.refused("llm", "generate", "--model", "nowhere", "--tokens", "1"))

    def test_broken_folders_are_named(self):
        model = self.init("qwen3-moe")

        def broken(change):
            path = self.path("broken")
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(model, path)
            change(path)
            return self.refused("llm", "generate", "--model", path, "--tokens", "1")

        def cut(path):
            os.truncate(os.path.join(path, "model.safetensors"), 100_000)

        def edit(path):
            name = os.path.join(path, "config.json")
            with open(name) as file:
                config = json.load(file)
            config["num_hidden_layers"] = 5
            with open(name, "w") as file:
                json.dump(config, file)

        self.assertIn("broken/model.safetensors: tensors end at byte", broken(cut))
        self.assertIn("model.safetensors: tensor 'model.layers.4.input_layernorm.weight' is missing", broken(edit))
        self.assertIn("no weights", broken(lambda path: os.remove(os.path.join(path, "model.safetensors"))))

    def test_searched_programs_say_the_same(self):
        model, cache = self.init(), {"XDG_CACHE_HOME": self.folder}
        expected = json.loads(self.generate(model, "--max-tokens", "12", "--ignore-end", "--json").stdout)["tokens"]
        for search, tried in (("2", "2 programs tried now, 0 before"), ("0", "0 programs tried now, 2 before")):
            result = self.run_ok("llm", "generate", "--model", model, "--tokens", "1,2,3", "--max-tokens", "12",
                                 "--ignore-end", "--json", "--search", search, environment=cache)  # fmt: skip
            self.assertIn(tried, result.stderr)
            self.assertEqual(json.loads(result.stdout)["tokens"], expected)

    def test_bench_of_a_file(self):
        model = self.init()
        self.write("llm.toml", f"""
[suite]
models = ["made"]
search_budgets = [0, 3]
[configs.made]
family = "llama"
size = "tiny"
dtype = "f32"
prompt = 6
decode_tokens = 3
rounds = 1
[configs.own]
model = "{model}"
prompt = 5
max_context = 9
decode_tokens = 4
iters = 5
search_budgets = [1]
""".encode())
        bench = ("llm", "bench", "--config", self.path("llm.toml"))
        cache = {"XDG_CACHE_HOME": self.folder}

        def planned(*more):
            [plan] = json.loads(self.run_ok(*bench, *more, "--dry-run", "--json", environment=cache).stdout)
            return [(p["case"], p["point"]) for p in plan["points"]]

        cases = ["llm_prefill", "llm_prefill_sequential", "llm_decode"]
        points = planned()  # the file's [suite]
        self.assertEqual([case for case, _ in points], [*cases, "llm_search", "llm_search"])
        self.assertEqual([p["budget"] for case, p in points if case == "llm_search"], [0, 3])
        self.assertEqual(points[2][1], {"model": "llama-tiny", "dtype": "f32", "prompt": 6, "tokens": 3,
                                        "context": 24, "seed": 0})  # fmt: skip
        own = planned("own", "--no-sweep")
        self.assertEqual([case for case, _ in own], cases)
        self.assertEqual((own[0][1]["model"], own[0][1]["context"]), (model, 9))
        # Measured and judged, what is made and what is there.
        for name in ("made", "own"):
            self.run_ok(*bench, name, "--rounds", "1", "--steady", "1ms", "--providers", "assay,assay-unsearched",
                        "--max-steal", "100%", "--max-foreign", "100%", "--no-sweep", "--out", name + ".jsonl",
                        environment=cache)  # fmt: skip
            with open(self.path(name + ".jsonl")) as file:
                rows = [json.loads(line) for line in file]
            self.assertEqual({row["status"] for row in rows if row["provider"].startswith("assay")}, {"ok"})
        self.assertIn("name", self.refused("llm", "bench", "made"))

    def test_bench_of_a_prompt(self):
        """A text by the model's own tokenizer, whether that is made or there; tokens; a number of them."""
        model, text = self.init("llama"), "Once upon a time"
        said = self.run_ok("llm", "tokenize", "--model", model, "--text", text, "--json").stdout
        ids = json.loads(said)["ids"]
        self.write("llm.toml", f"""
[suite]
settle = "1ms"
[configs.a-made]
family = "llama"
size = "tiny"
prompt = "{text}"
[configs.b-own]
model = "{model}"
prompt = "{text}"
[configs.c-tokens]
family = "llama"
size = "tiny"
prompt = {ids}
settle = "2ms"
[configs.d-long]
family = "gemma3"
size = "tiny"
prompt = 1000
search_budgets = [4, 0, 4]
""".encode())
        bench = ("llm", "bench", "--config", self.path("llm.toml"))
        plans = json.loads(self.run_ok(*bench, "--dry-run", "--json").stdout)
        points = [plan["points"][0]["point"] for plan in plans]
        for point in points[:3]:
            self.assertEqual((point["ids"], point["prompt"]), (",".join(map(str, ids)), len(ids)))
        self.assertEqual((points[3]["prompt"], points[3]["context"], points[3].get("ids")), (1000, 2048, None))
        self.assertEqual([p["point"]["budget"] for p in plans[3]["points"][3:]], [0, 4])
        cache = {"XDG_CACHE_HOME": self.folder}
        for name in ("a-made", "b-own"):
            self.run_ok(*bench, name, "--rounds", "1", "--steady", "1ms", "--providers", "assay-unsearched",
                        "--max-steal", "100%", "--max-foreign", "100%", "--no-sweep", "--out", name + ".jsonl",
                        environment=cache)  # fmt: skip
            with open(self.path(name + ".jsonl")) as file:
                rows = [json.loads(line) for line in file]
            self.assertEqual({row["status"] for row in rows if row["provider"] == "assay-unsearched"}, {"ok"})

    def test_an_interrupted_bench_says_how_to_go_on(self):
        self.write("two models.toml", "".join(
            f"[configs.{name}]\nfamily = 'llama'\nsize = 'tiny'\nprompt = 6\n" for name in ("a", "b", "c")))  # fmt: skip
        options = ("--config", "two models.toml", "--no-sweep", "--rounds", "200", "--providers", "assay-unsearched",
                   "--max-steal", "100%", "--max-foreign", "100%", "--out", "kept/")  # fmt: skip
        cache = {"XDG_CACHE_HOME": self.folder}
        process = subprocess.Popen(
            [ASSAY, "llm", "bench", "a", "c", *options], cwd=self.folder, stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, text=True,
            env={**os.environ, **ALONE, **cache, "ASSAY_LOCK_DIR": self.folder})  # fmt: skip
        while not glob.glob(self.path("kept/*.jsonl")):
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        [begun] = re.findall("^interrupted; continue with: assay (.*)$", errors, re.M)
        [left] = re.findall("^not begun: assay (.*)$", errors, re.M)
        words = shlex.split(left)
        self.assertEqual((words[:2], words[-1]), (["llm", "bench"], "c"))
        self.assertEqual(sorted(words[2:-1]), sorted(options))
        # Both are what they say.
        self.run_ok(*shlex.split(begun), "--dry-run", environment=cache)
        [plan] = json.loads(self.run_ok(*words, "--dry-run", "--json", environment=cache).stdout)
        self.assertEqual((plan["label"], plan["attempts"]), ("c", 600))

    def test_bad_bench_files_are_named(self):
        good = {"family": "'qwen3'", "size": "'tiny'"}

        def refusal(suite="", **keys):
            lines = [f"{key} = {value}" for key, value in {**good, **keys}.items() if value]
            self.write("llm.toml", "\n".join([suite, "[configs.x]", *lines]).encode())
            text = self.refused("llm", "bench", "--config", self.path("llm.toml"), "--dry-run")
            self.assertEqual(len(text.strip().splitlines()), 1, text)
            self.assertIn("llm.toml", text)
            return text

        for keys, words in (
            ({"sizes": "3"}, ("sizes",)),
            ({"family": "", "size": ""}, ("family", "give a folder")),
            ({"model": "'here'"}, ("model", "give a folder")),
            ({"family": "'gpt'"}, ("configs.x.family", "'gpt'")),
            ({"size": "'9b'"}, ("configs.x.size", "'9b'")),
            ({"size": "3"}, ("configs.x.size", "got an integer")),
            ({"family": "", "size": "", "model": "'nowhere/'"}, ("configs.x.model", "nowhere/")),
            ({"dtype": "'f8'"}, ("configs.x.dtype", "f8")),
            ({"prompt": "0"}, ("configs.x.prompt", "not 0")),
            ({"prompt": "''"}, ("configs.x.prompt", '""')),
            ({"prompt": "[]"}, ("configs.x.prompt", "[]")),
            ({"prompt": "[1, 512]"}, ("configs.x.prompt", "512")),
            ({"prompt": "[1, -1]"}, ("configs.x.prompt", "-1")),
            ({"prompt": "1.5"}, ("configs.x.prompt", "1.5")),
            ({"prompt": "['a']"}, ("configs.x.prompt", '["a"]')),
            ({"prompt": "40000"}, ("configs.x.prompt", "40000")),
            ({"prompt": "3000"}, ("configs.x.prompt", "2048")),
            ({"max_context": "20", "prompt": "10"}, ("configs.x.max_context", "20", "10")),
            ({"max_context": "9000"}, ("configs.x.max_context", "9000")),
            ({"decode_tokens": "0"}, ("configs.x.decode_tokens", "not 0")),
            ({"iters": "0"}, ("configs.x.iters", "not 0")),
            ({"iters": "2"}, ("configs.x.iters", "expected 5 to", "not 2")),
            ({"warmups": "-1"}, ("configs.x.warmups", "not -1")),
            ({"search_budgets": "[1, 2.5]"}, ("configs.x.search_budgets", "2.5")),
            ({"search_budgets": "'many'"}, ("configs.x.search_budgets", "got a string")),
            ({"settle": "true"}, ("configs.x.settle", "true")),
            ({"suite": "[suite]\nmodels = ['y']"}, ("suite.models", '"y"', "x")),
            ({"suite": "[suite]\nmodels = 'x'"}, ("suite.models", '"x"')),
            ({"suite": "[suite]\nsearch_budgets = [-1]"}, ("suite.search_budgets", "-1")),
            ({"suite": "[suite]\nmodel = ['x']"}, ("suite.model",)),
        ):
            with self.subTest(keys):
                text = refusal(**keys)
                for word in words:
                    self.assertIn(word, text)


if __name__ == "__main__":
    main()
