"""A disk that fails: held replies never come, nothing changes any more, all the rest goes on, and a restart has what
was acknowledged. The failure comes from disk_shim.cc: from some moment on, writes or syncs answer EIO."""
import os
import signal

from log_server import LogTest, main, read_jobs, shim_environment


class FailedDiskTest(LogTest):
    def test_sync_fails(self):
        server = self.serve(env=shim_environment(fail=self.trigger("fail"), slow=self.trigger("slow")))
        client, waiter = self.prepare(server)
        self.pull("slow", "300")
        self.pull("fail", "fdatasync")
        held = self.connect(server), self.connect(server), self.connect(server)
        held[0].send(b"use default\r\nput 99 0 60 4\r\nlost\r\n")
        self.assertEqual(held[0].line(), b"USING default")
        self.assertTrue(held[0].is_quiet(0.05))
        held[1].send(b"delete 5\r\n")        # recorded while the sync runs
        held[2].send(b"peek 5\r\nlist-tube-used\r\n")  # says that it is gone, and keeps what follows in order
        for connection in held:
            self.assertEqual(connection.rest(), b"")
        self.look_and_stop(server, client, waiter)

    def test_write_fails(self):
        server = self.serve(env=shim_environment(fail=self.trigger("fail")))
        client, waiter = self.prepare(server)
        self.pull("fail", "pwritev")
        held = self.connect(server)
        held.send(b"put 99 0 60 4\r\nlost\r\n")
        self.assertEqual(held.rest(), b"")
        self.look_and_stop(server, client, waiter)

    def trigger(self, name):
        return os.path.join(self.folder, name)

    def pull(self, name, text):
        with open(self.trigger(name + ".new"), "w", encoding="ascii") as file:
            file.write(text)
        os.rename(self.trigger(name + ".new"), self.trigger(name))

    def look_and_stop(self, server, client, waiter):
        self.look(client)
        self.change_nothing(client)
        self.assertEqual([waiter.line() for _ in range(3)], [b"WATCHING 2", b"WATCHING 1", b"TIMED_OUT"])
        self.assertIn("critical", server.log())
        server.kill(signal.SIGTERM)
        self.assertEqual(server.wait(), 0, server.log())
        self.is_all_there(self.connect(self.serve()))

    def prepare(self, server):
        """Jobs 1 reserved, 2 buried, 3 ready, 4 delayed, 5 ready; and a client that waits in reserve."""
        client, waiter = self.connect(server), self.connect(server)
        client.put(b"one", pri=0)
        self.assertEqual(client.ask(b"reserve\r\n"), b"RESERVED 1 3")
        client.body(3)
        client.put(b"four", pri=0)
        self.assertEqual(client.ask(b"reserve\r\n"), b"RESERVED 2 4")
        client.body(4)
        self.assertEqual(client.ask(b"bury 2 7\r\n"), b"BURIED")
        self.assertEqual(client.put(b"ready", pri=5), b"INSERTED 3")
        self.assertEqual(client.put(b"late", delay=1000), b"INSERTED 4")
        self.assertEqual(client.put(b"victim", pri=9), b"INSERTED 5")
        waiter.send(b"watch empty\r\nignore default\r\nreserve-with-timeout 2\r\n")
        return client, waiter

    def look(self, client):
        self.wait_for_stats(client, "failed", lambda stats: stats["log-state"] == "failed")
        for question, answer in ((b"peek 3", b"FOUND 3 5"), (b"peek-ready", b"FOUND 3 5"),
                                 (b"peek-delayed", b"FOUND 4 4"), (b"peek-buried", b"FOUND 2 4")):
            self.assertEqual(client.ask(question + b"\r\n"), answer)
            client.body(int(answer.split()[2]))
        for question, answer in ((b"touch 1", b"TOUCHED"), (b"use other", b"USING other"),
                                 (b"watch other", b"WATCHING 2"), (b"ignore other", b"WATCHING 1"),
                                 (b"use default", b"USING default")):
            self.assertEqual(client.ask(question + b"\r\n"), answer)
        line = client.ask(b"list-tubes\r\n")
        self.assertTrue(line.startswith(b"OK"))
        client.body(int(line.split()[1]))

    def change_nothing(self, client):
        self.assertEqual(client.put(b"more"), b"INTERNAL_ERROR")
        for command in (b"delete 1", b"delete 3", b"release 1 0 0", b"bury 1 0", b"kick 10", b"kick-job 2",
                        b"kick-job 4", b"reserve-job 4", b"reserve-job 2", b"pause-tube default 10"):
            self.assertEqual(client.ask(command + b"\r\n"), b"INTERNAL_ERROR", command)
        for command in (b"delete 99", b"release 3 0 0", b"kick-job 3", b"pause-tube nosuch 1"):
            self.assertEqual(client.ask(command + b"\r\n"), b"NOT_FOUND", command)
        self.assertEqual(client.ask(b"reserve-with-timeout 0\r\n"), b"TIMED_OUT")

    def is_all_there(self, client):
        jobs = read_jobs(client, range(1, 10))
        open_ended = (b"lost", b"victim")  # without a reply, either is right
        states = {id: (job["state"], job["pri"], job["body"]) for id, job in jobs.items()
                  if job["body"] not in open_ended}
        self.assertEqual(states, {1: ("ready", "0", b"one"), 2: ("buried", "7", b"four"), 3: ("ready", "5", b"ready"),
                                  4: ("delayed", "0", b"late")})
        self.assertEqual(client.put(b"again")[:9], b"INSERTED ")


if __name__ == "__main__":
    main()
