"""Bad days: nobody there, somebody else there, replies that break off, pipes that close, bytes that mean to harm a terminal,
and Ctrl-C in the middle. Each ends with one clear line and its exit code."""
import os
import pty
import signal
import socket
import subprocess
import threading
import time
import unittest

import world


class BadDaysTest(world.ToolTest):
    def somebody_who_says(self, *replies, before_the_last=None):
        """A server that answers its n-th line with the n-th reply, and closes after the last.
        With an event it sets `asked` and waits for the event before it gives the last."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        self.asked = threading.Event()

        def serve():
            peer, _ = listener.accept()
            with peer:
                for number, reply in enumerate(replies, 1):
                    peer.recv(65_536)
                    if before_the_last and number == len(replies):
                        self.asked.set()
                        before_the_last.wait()
                    peer.sendall(reply)

        threading.Thread(target=serve, daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    def fails(self, server, *args, code, said, given=b""):
        error = self.xylem(server, *args, expect=code, given=given)[1]
        self.assertEqual(error.decode(), f"xylem: {said}\n")

    def test_nobody_is_there(self):
        self.fails("127.0.0.1:1", "tubes", code=3, said="cannot connect to 127.0.0.1:1: Connection refused")
        self.fails("unix:/nonexistent", "tubes", code=3,
                   said="cannot connect to unix:/nonexistent: No such file or directory")
        self.fails("127.0.0.1:", "tubes", code=2, said="'127.0.0.1:' is no server address: it names no port")

    def test_an_http_server(self):
        server = self.somebody_who_says(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        self.fails(server, "stats", code=3, said=f"{server} does not speak the beanstalk protocol; it said "
                   '"HTTP/1.1 400 Bad Request"')

    def test_a_reply_cut_in_half(self):
        server = self.somebody_who_says(b"OK 100\r\n---\ncurrent")
        self.fails(server, "stats", code=3, said=f"{server} closed the connection in the middle of a reply")

    def test_a_worker_that_is_refused_a_reserve_pauses(self):
        server = self.somebody_who_says(b"WATCHING 2\r\n", b"WATCHING 1\r\n", b"INTERNAL_ERROR\r\n")
        worker = self.popen(server, "work", "a", "--", "true")
        self.assertEqual(worker.stderr.readline(),
                         b"xylem: reserve: the server says INTERNAL_ERROR (see its log); trying again in 0.1 s\n")

    def test_a_load_that_breaks_off_says_what_was_done(self):
        line = b'{"tube":"a","body":"x"}\n'
        server = self.somebody_who_says(b"USING a\r\nINSERTED 1\r\n")
        out, error = self.xylem(server, "load", given=line * 3, expect=3)
        self.assertEqual(out, b"1 job loaded; ids, ages and counters start anew\n")
        self.assertEqual(error.decode(), "xylem: of the input: line 1 done; lines 2 to 3 sent without an answer, put or not; "
                         f"the rest not sent\nxylem: {server} closed the connection\n")
        buried = b'{"tube":"a","body":"x","state":"buried"}\n'
        server = self.somebody_who_says(b"USING a\r\nINSERTED 7\r\nINSERTED 8\r\n")
        out, error = self.xylem(server, "load", given=b"\n" + buried * 3, expect=3)
        self.assertEqual(out, b"0 jobs loaded; ids, ages and counters start anew\n")
        self.assertEqual(error.decode(), "xylem: of the input: lines 1 to 3 done; line 4 sent without an answer, put or not; "
                         "the rest not sent\nxylem: 2 jobs put, with a delay of 4294967295 s, and perhaps not buried: "
                         f"7 to 8\nxylem: {server} closed the connection\n")

    def test_lines_that_break_off_say_what_was_put(self):
        server = self.somebody_who_says(b"USING default\r\n", b"INSERTED 4\r\nINSERTED 9\r\n")
        out, error = self.xylem(server, "put", "--lines", given=b"x\n" * 3, expect=3)
        self.assertEqual(out, b"2 jobs put, ids within 4 to 9\n")
        self.assertEqual(error.decode(), "xylem: of the input: jobs 1 to 2 done; job 3 sent without an answer, put or not; "
                         f"the rest not sent\nxylem: {server} closed the connection\n")

    def test_a_change_without_an_answer_may_have_been_done(self):
        told = b"OK 26\r\n---\ncurrent-jobs-ready: 3\n\r\n"
        caps = b"OK 29\r\n---\n- flush-tube\n- move-jobs\n\r\n"
        unknown = "closed the connection; whether it was done is not known"
        for args, replies, said in (
                (["put", "x"], [b"USING default\r\n"], "put: {}"),
                (["kick", "a"], [b"USING a\r\n"], "kick: {}"),
                (["delete", "7", "8"], [], "job 7: {}"),
                (["flush", "a", "--yes"], [told, caps], "tube a: {}"),
                (["move", "a", "b", "--state", "ready"], [caps, told, told],
                 "0 jobs of a moved to b; then: the next 3 jobs: {}")):
            with self.subTest(args):
                server = self.somebody_who_says(*replies, b"")
                self.fails(server, *args, code=3, said=said.format(f"{server} {unknown}"))

    def test_a_pipe_that_is_closed_and_a_disk_that_is_full(self):
        server = self.start()
        for word in ("stats", "--version"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([world.XYLEM, word], env=self.environment(server), stdout=full,
                                      stderr=subprocess.PIPE, check=False)
            self.assertEqual((done.returncode, done.stderr),
                             (5, b"xylem: cannot write to standard output: No space left on device\n"))
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([world.XYLEM, "stats"], env=self.environment(server), stdout=writing,
                              stderr=subprocess.PIPE, check=False)
        os.close(writing)
        self.assertEqual((done.returncode, done.stderr),
                         (5, b"xylem: cannot write to standard output: Broken pipe\n"))

    def test_standard_error_that_cannot_be_written(self):
        """What happened is still told by the exit code."""
        server = self.start()
        for command, code in (("stats nosuch 2>/dev/full", 1), ("delete 7 2>&-", 1), ("foo 2>/dev/full", 2),
                              ("2>&-", 2), ("put --lines </dev/null 2>&-", 1), ("stats >/dev/full 2>/dev/full", 5)):
            with self.subTest(command):
                self.assertEqual(self.shell(server, command)[1], code)
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([world.XYLEM, "delete", "7"], env=self.environment(server), stderr=writing, check=False)
        os.close(writing)
        self.assertEqual(done.returncode, 1)

    def test_descriptors_that_are_closed(self):
        """Nothing that is opened later stands in their place."""
        server = self.start()
        bad = b"Bad file descriptor\n"
        for command, said in (("load <&-", b"xylem: cannot read standard input: " + bad),
                              ("put --lines <&-", b"xylem: cannot read standard input: " + bad),
                              ("put - <&-", b"xylem: cannot read the body: " + bad),
                              ("stats >&-", b"xylem: cannot write to standard output: " + bad),
                              ("--help >&-", b"xylem: cannot write to standard output: " + bad)):
            with self.subTest(command):
                told, code = self.shell(server, command)
                self.assertEqual((told[-len(said):], code), (said, 5))

    def shell(self, server, command):
        """What `xylem COMMAND`, by a shell, says on standard error, and its exit code."""
        done = subprocess.run(["sh", "-c", f'exec "$0" {command}', world.XYLEM], env=self.environment(server),
                              capture_output=True, timeout=world.PATIENCE, check=False)
        return done.stderr, done.returncode

    def test_a_terminal_never_sees_what_a_body_holds(self):
        server = self.start()
        evil = "\x1b]0;title\x07 \u202etxt \x9b2J \u00e9".encode("utf-8") + b"\xff"
        self.xylem(server, "put", given=evil)
        self.assertEqual(self.on_a_terminal(server, "peek", "1"), "job 1, 26 bytes\r\n\\x1b]0;title\\x07 "
                         "\\xe2\\x80\\xaetxt \\xc2\\x9b2J \u00e9\\xff\r\n")
        self.assertEqual(self.xylem(server, "peek", "1")[0], evil)
        self.xylem(server, "delete", "1")
        self.xylem(server, "put", given=evil[:-1])
        self.assertEqual(self.on_a_terminal(server, "peek", "2", "--json"), '{"id":2,"body":"\\u001b]0;title\\u0007 '
                         '\\u202etxt \\u009b2J \u00e9"}\r\n')

    def test_a_dump_to_a_terminal_has_its_lines_alone(self):
        server = self.start()
        self.xylem(server, "put", "--lines", given=b"x\n" * 500)
        lines = self.on_a_terminal(server, "dump", slow=0.4).splitlines()
        self.assertEqual(len(lines), 500)
        for line in lines:
            self.assertRegex(line, r"^\{.*\}$")

    def test_confirmations_are_for_terminals(self):
        server = self.start()
        self.xylem(server, "put", "-t", "a", "x")
        for args, code, said in ((["bury", "1"], 0, "job 1 buried"), (["kick", "a"], 0, "1 job kicked"),
                                 (["kick", "a"], 1, "0 jobs kicked"), (["move", "a", "b"], 0, "1 job of a moved to b"),
                                 (["move", "b", "a"], 0, "1 job of b moved to a"), (["pause", "a", "0"], 0, "a resumed"),
                                 (["drain"], 0, "the server takes no new jobs"),
                                 (["flush", "a", "--yes"], 0, "1 job of a flushed")):
            self.assertEqual(self.on_a_terminal(server, *args, expect=code), said + "\r\n")

    def on_a_terminal(self, server, *args, expect=0, slow=0):
        """What a terminal that has standard output and standard error is sent; it takes nothing for the first seconds."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([world.XYLEM, *args], env={**self.environment(server), "NO_COLOR": "1"}, stdout=theirs,
                                   stderr=theirs)
        os.close(theirs)
        shown = b""
        time.sleep(slow)
        try:
            while True:
                shown += os.read(ours, 65_536)
        except OSError:  # the end, on Linux
            pass
        os.close(ours)
        self.assertEqual(process.wait(world.PATIENCE), expect, shown)
        return shown.decode()

    def test_ctrl_c_in_the_middle_of_a_load(self):
        server = self.start()
        loading = self.popen(server, "load", stdin=subprocess.PIPE)
        loading.stdin.write(b'{"tube":"a","body":"x"}\n' * 2_500)
        loading.stdin.flush()
        watcher = self.connect(server)
        self.wait_until(lambda: int(watcher.stats()["total-jobs"]) >= 2_000, "two batches are loaded")
        loading.send_signal(signal.SIGINT)
        self.assertEqual(loading.wait(world.PATIENCE), 130)
        total = watcher.stats()["total-jobs"].encode()
        self.assertEqual(loading.stdout.read(), total + b" jobs loaded; ids, ages and counters start anew\n")
        self.assertEqual(loading.stderr.read(), b"xylem: of the input: lines 1 to " + total + b" done; the rest not sent\n"
                         b"xylem: interrupted\n")

    def ctrl_c_before_the_last_answer(self, *answers, args):
        """What the tool says, and its exit code."""
        interrupted = threading.Event()
        server = self.somebody_who_says(*answers, before_the_last=interrupted)
        changing = self.popen(server, *args)
        self.assertTrue(self.asked.wait(world.PATIENCE))
        changing.send_signal(signal.SIGINT)
        interrupted.set()
        code = changing.wait(world.PATIENCE)
        return changing.stdout.read(), changing.stderr.read(), code

    def test_ctrl_c_in_the_middle_of_a_move(self):
        """Portions are moved whole, and counted."""
        told = b"OK 30\r\n---\ncurrent-jobs-ready: 25000\n\r\n"
        self.assertEqual(self.ctrl_c_before_the_last_answer(
            b"OK 16\r\n---\n- move-jobs\n\r\n", told, told, b"MOVED 10000\r\n", b"MOVED 10000\r\n",
            args=["move", "a", "b", "--state", "ready"]),
            (b"", b"xylem: 20000 jobs of a moved to b; then: interrupted\n", 130))

    def test_ctrl_c_before_the_answer_to_a_flush(self):
        """It is one command: it is done or not, and the tool waits to tell which."""
        self.assertEqual(self.ctrl_c_before_the_last_answer(
            b"OK 26\r\n---\ncurrent-jobs-ready: 3\n\r\n", b"OK 17\r\n---\n- flush-tube\n\r\n", b"FLUSHED 3\r\n",
            args=["flush", "a", "--yes"]), (b"", b"", 0))

    def test_ctrl_c_in_the_middle_of_a_flush_job_by_job(self):
        server = self.start_beanstalkd()
        self.xylem(server, "put", "-t", "a", "--lines", given=b"x\n" * 60_000)
        flushing = self.popen(server, "flush", "a", "--yes")
        watcher = server.connect()
        self.addCleanup(watcher.close)
        self.wait_until(lambda: int(watcher.stats()["cmd-delete"]) > 100, "some are deleted")
        flushing.send_signal(signal.SIGINT)
        self.assertEqual(flushing.wait(world.PATIENCE), 130)
        deleted = int(watcher.stats()["cmd-delete"])
        self.assertRegex(flushing.stderr.read().decode(), rf"\nxylem: {deleted} jobs of a flushed; then: interrupted\n$")


if __name__ == "__main__":
    unittest.main()
