"""The life of the process: start, exit codes, drain, reload, stop."""
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from xylemd import PATIENCE, PROGRAM, Server, ServerTest


BODY = b"x" * 60_000 + b"\r\n"
FOUND = b"FOUND 1 60000\r\n"


def run(*args):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=PATIENCE)


class ExitCodeTest(ServerTest):
    def test_version_and_usage(self):
        self.assertEqual(run("-v").returncode, 0)
        self.assertEqual(run("-h").returncode, 0)
        self.assertEqual(run("-?").returncode, 5)
        self.assertEqual(run("word").returncode, 5)

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            ended = run("-l", "127.0.0.1", "-p", str(port))
        self.assertEqual(ended.returncode, 111)
        self.assertIn(f"127.0.0.1:{port}", ended.stderr)
        self.assertIn("in use", ended.stderr)

    def test_a_host_that_does_not_exist(self):
        ended = run("-l", "no-such-host.invalid", "-p", "0")
        self.assertEqual(ended.returncode, 111)
        self.assertIn("no-such-host.invalid", ended.stderr)

    def test_unknown_user(self):
        ended = run("-l", "127.0.0.1", "-p", "0", "-u", "no-such-user")
        self.assertEqual(ended.returncode, 33)
        self.assertIn("no-such-user", ended.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_becomes_another_user(self):
        server = self.start("-u", "nobody")
        server.port()
        with open(f"/proc/{server.pid}/status", encoding="ascii") as file:
            status = dict(line.split(":", 1) for line in file)
        for ids in ("Uid", "Gid"):
            self.assertNotIn("0", status[ids].split())
        self.assertNotIn("0", status["Groups"].split())

    @unittest.skipUnless(os.geteuid() == 0, "needs root to give it up")
    def test_a_user_that_we_may_not_become(self):
        ended = subprocess.run([PROGRAM, "-l", "127.0.0.1", "-p", "0", "-u", "root"], user="nobody", group="nogroup",
                               extra_groups=[], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(ended.returncode, 34, ended.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to give it up")
    def test_a_user_that_we_are_already(self):
        server = self.start("-u", "nobody", user="nobody", group="nogroup", extra_groups=[])
        self.assert_serves(server)
        server.stop()

    @unittest.skipUnless(os.geteuid() == 0, "needs root to give it up")
    def test_a_socket_file_that_the_user_may_not_remove_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = os.path.join(folder, "socket")
            server = self.start("-u", "nobody", listen=("-l", f"unix:{path}"))
            server.wait_for_log("listening on")
            server.stop()
            self.assertIn(f"warning: cannot remove the socket file {path}: ", server.log())
            self.assertTrue(os.path.exists(path))

    def test_an_error_at_the_start_is_a_line_of_the_log(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            ended = run("-l", "127.0.0.1", "-p", str(taken.getsockname()[1]), "--log-format", "json")
        self.assertEqual(ended.returncode, 111)
        last = json.loads(ended.stderr.splitlines()[-1])
        self.assertEqual(last["level"], "error")
        self.assertIn("in use", last["message"])


class StandardDescriptorsTest(ServerTest):
    def test_closed_ones_are_opened(self):
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
                path = os.path.join(folder, "socket")

                def close(closed=closed):
                    for descriptor in closed:
                        os.close(descriptor)
                process = subprocess.Popen([PROGRAM, "-l", f"unix:{path}", "-b", folder], stderr=errors,
                                           preexec_fn=close)
                self.addCleanup(process.kill)
                self.wait_until(lambda path=path: os.path.exists(path), "it has bound")
                files = [os.readlink(f"/proc/{process.pid}/fd/{descriptor}") for descriptor in closed]
                self.assertEqual(files, ["/dev/null"] * len(closed))
                process.terminate()
                self.assertEqual(process.wait(PATIENCE), 0)


class StopTest(ServerTest):
    def test_idle_server_stops(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server = self.start()
            server.port()
            server.kill(number)
            self.assertEqual(server.wait(), 0)
            self.assertIn("stopped", server.log())

    def test_waiting_and_idle_clients_do_not_hold_it_up(self):
        server = self.start()
        clients = [self.connect(server) for _ in range(20)]
        for client in clients[:10]:
            client.send(b"reserve\r\n")
        self.assert_serves(server)
        begin = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - begin, 8)
        self.assertEqual([client.rest() for client in clients], [b""] * 20)

    def test_pending_replies_leave_first(self):
        server, slow, executed = self.stuck_server()
        server.kill()
        server.wait_for_log("stopping")
        time.sleep(0.2)
        self.assertIsNone(server.process.poll())
        rest = slow.rest()
        self.assertEqual(len(FOUND) + len(rest), executed * (len(FOUND) + len(BODY)))
        self.assertTrue(rest.endswith(FOUND + BODY))
        self.assertEqual(server.wait(), 0)

    def test_no_new_clients_while_it_stops(self):
        server, deaf, _ = self.stuck_server()
        port = server.port()
        server.kill()
        server.wait_for_log("stopping")
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        deaf.close()
        self.assertEqual(server.wait(), 0)

    def test_a_client_that_never_reads_is_waited_for_ten_seconds(self):
        server, _, _ = self.stuck_server()
        begin = time.monotonic()
        server.kill()
        self.assertEqual(server.wait(), 0)
        self.assertGreater(time.monotonic() - begin, 9)
        self.assertIn("connections did not take their replies", server.log())

    def test_a_second_signal_exits_at_once(self):
        server, _, _ = self.stuck_server()
        server.kill()
        server.wait_for_log("stopping")
        server.kill()
        self.assertEqual(server.wait(), 128 + signal.SIGTERM)

    def test_restart_on_the_same_port(self):
        first = self.start()
        port = first.port()
        client = self.connect(first)
        client.ask(b"use a\r\n")
        first.stop()
        second = self.start(listen=("-l", "127.0.0.1", "-p", str(port)))
        self.assertEqual(second.port(), port)
        self.assert_serves(second)

    def stuck_server(self):
        """A server, a client that has more to get than it reads, and how many of its commands were executed."""
        server = self.start()
        watcher = self.connect(server)
        self.assertEqual(watcher.put(BODY[:-2]), b"INSERTED 1")
        deaf = self.connect(server, receive_bytes=4_096)
        deaf.send(b"peek 1\r\n" * 2_000)
        self.assertEqual(deaf.line() + b"\r\n", FOUND)
        executed = [None]
        self.wait_until(lambda: self.is_settled(watcher, executed), "its output is stuck")
        self.assertLess(executed[0], 2_000)
        watcher.close()
        return server, deaf, executed[0]

    def is_settled(self, watcher, executed):
        before = executed[0]
        time.sleep(0.2)
        executed[0] = int(watcher.stats()["cmd-peek"])
        return executed[0] == before


class StartSignalTest(ServerTest):
    """What a signal does that comes while the server starts: it reads its settings when we say so, from a pipe."""

    def start_with_signal(self, number, *args, config="limits: {}\n"):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "pipe")
        os.mkfifo(path)
        server = self.start("--config", path, *args)
        with open(path, "w", encoding="ascii") as pipe:  # waits until the server reads
            server.kill(number)
            pipe.write(config)
        return server, path

    def test_told_to_stop(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            server, _ = self.start_with_signal(number)
            self.assertEqual(server.wait(), 0)
            self.assertTrue(server.log().endswith("stopped\n"), server.log())

    def test_drain(self):
        server, _ = self.start_with_signal(signal.SIGUSR1)
        self.assertEqual(self.connect(server).put(), b"DRAINING")
        server.stop()

    def test_reload(self):
        server, path = self.start_with_signal(signal.SIGHUP)
        server.port()
        with open(path, "w", encoding="ascii") as pipe:
            pipe.write("limits: {max-job-size: 20}\n")
        server.wait_for_log("reloaded")
        self.assertEqual(self.connect(server).stats()["max-job-size"], "20")
        server.stop()

    def test_a_long_log_is_not_read_to_its_end(self):
        with tempfile.TemporaryDirectory() as folder:
            options = ("-b", folder, "-F", "-z", "1000000")
            server = self.start(*options)
            client = self.connect(server)
            for _ in range(10):
                client.put(b"x" * 1_000_000)
            server.stop()
            server, _ = self.start_with_signal(signal.SIGTERM, *options)
            self.assertEqual(server.wait(), 0)
            self.assertIn("while the log is read", server.log())
            server = self.start(*options)
            self.assertEqual(self.connect(server).stats()["current-jobs-ready"], "10")
            server.stop()

    def test_nobody_reads_what_it_logs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "socket")
            reader, writer = os.pipe()
            os.close(reader)
            process = subprocess.Popen([PROGRAM, "-l", f"unix:{path}"], stderr=writer)
            self.addCleanup(process.kill)
            os.close(writer)
            self.wait_until(lambda: os.path.exists(path) or process.poll() is not None, "it has bound or died")
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), 0)

    def test_what_does_not_serve_ends_at_once(self):
        server, _ = self.start_with_signal(signal.SIGTERM, "--check-config")
        self.assertEqual(server.wait(), -signal.SIGTERM)


class SignalTest(ServerTest):
    def test_drain(self):
        server = self.start()
        client = self.connect(server)
        self.assertEqual(client.put(), b"INSERTED 1")
        self.assertEqual(client.stats()["draining"], "false")
        server.kill(signal.SIGUSR1)
        server.wait_for_log("drain")
        self.assertEqual(client.put(), b"DRAINING")
        self.assertEqual(client.stats()["draining"], "true")
        self.assertEqual(client.ask(b"delete 1\r\n"), b"DELETED")
        self.assertEqual(client.ask(b"undrain\r\n"), b"NOT_DRAINING")
        server.wait_for_log("undrain: put is taken again")
        self.assertEqual(client.ask(b"drain\r\n"), b"DRAINING")
        server.wait_for_log("drain: put is refused from now on")
        server.stop()

    def test_reload_takes_what_can_change(self):
        server = self.start(config="limits:\n  max-job-size: 10\n")
        client = self.connect(server)
        self.assertEqual(client.put(b"x" * 11), b"JOB_TOO_BIG")
        server.write_config("limits:\n  max-job-size: 20\n  max-connections: 7\nlogging:\n  format: json\n"
                            "user: somebody\n")
        server.kill(signal.SIGHUP)
        server.wait_for_log("reloaded")
        self.assertTrue(client.put(b"x" * 11).startswith(b"INSERTED"))
        self.assertEqual(client.stats()["max-job-size"], "20")
        self.assertEqual(client.stats()["max-connections"], "7")
        lines = server.log().splitlines()
        self.assertTrue(any("user needs a restart" in line for line in lines), lines)
        self.assertEqual(json.loads(lines[-1])["level"], "info")

    def test_admin_commands_can_be_switched_off_and_on(self):
        server = self.start(config="admin-commands: off\n")
        client = self.connect(server)
        self.assertEqual(client.ask(b"drain\r\n"), b"UNKNOWN_COMMAND")
        server.write_config("admin-commands: on\n")
        server.kill(signal.SIGHUP)
        server.wait_for_log("reloaded")
        self.assertEqual(client.ask(b"drain\r\n"), b"DRAINING")
        self.assertEqual(client.ask(b"undrain\r\n"), b"NOT_DRAINING")
        server.stop()

    def test_a_bad_reload_changes_nothing(self):
        server = self.start(config="limits:\n  max-job-size: 10\n")
        client = self.connect(server)
        server.port()
        server.write_config("limits:\n  max-job-size: many\n")
        server.kill(signal.SIGHUP)
        server.wait_for_log("nothing is changed")
        self.assertEqual(client.stats()["max-job-size"], "10")
        server.stop()

    def test_sigpipe_is_ignored(self):
        server = self.start()
        self.assert_serves(server)
        server.kill(signal.SIGPIPE)
        self.assert_serves(server)
        server.stop()


class NotifyTest(ServerTest):
    def test_systemd_hears_how_we_are(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            path = os.path.join(folder, "notify")
            notify.bind(path)
            notify.settimeout(PATIENCE)
            server = self.start(env={**os.environ, "NOTIFY_SOCKET": path}, config="limits: {}\n")
            self.assertEqual(notify.recv(4_096), b"READY=1\nSTATUS=")
            server.kill(signal.SIGHUP)
            self.assertTrue(notify.recv(4_096).startswith(b"RELOADING=1\nMONOTONIC_USEC="))
            self.assertEqual(notify.recv(4_096), b"READY=1\nSTATUS=")
            server.kill()
            self.assertEqual(notify.recv(4_096), b"STOPPING=1")
            self.assertEqual(server.wait(), 0)


class LogTest(ServerTest):
    def test_json_lines(self):
        server = self.start(config="logging:\n  format: json\n  level: debug\n")
        server.wait_for_log("listening on")
        port = int(server.wait_for_log(r"listening on 127\.0\.0\.1:(\d+)\"")[0])
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
        server.wait_for_log("closed")
        server.stop()
        for line in server.log().splitlines():
            self.assertEqual(set(json.loads(line)), {"time", "level", "message"})


if __name__ == "__main__":
    unittest.main()
