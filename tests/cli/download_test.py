#!/usr/bin/env python3
"""`treadle datasets get` against servers of this machine: good ones, absent, broken, slow and lying ones.

usage: download_test.py PROGRAM
"""

import gzip
import io
import os
import re
import shutil
import signal
import subprocess
import tarfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from program import PROGRAM, ProgramTest, last_json, run

FASHION = Path("/usr/share/datasets/fashion-mnist")
NAMES = [f"{part}-{kind}-ubyte.gz" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
for name in list(os.environ):
    if name.lower().endswith("_proxy"):
        del os.environ[name]


class Handler(BaseHTTPRequestHandler):
    """Serves `server.files`; `server.behave(handler, name, body, start)` may answer otherwise and then returns true."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(wanted[1]) if wanted else 0
        self.server.asked.append((self.path, start))
        body = self.server.files.get(name)
        if self.server.behave and self.server.behave(self, name, body, start):
            return
        if body is None:
            return self.answer(404, b"not here")
        if wanted and start >= len(body):
            return self.answer(416, b"")
        self.answer(206 if wanted else 200, body[start:], f"bytes {start}-{len(body) - 1}/{len(body)}" if wanted else None)

    def answer(self, status, body, content_range=None, promised=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if promised is None else promised))
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()
        self.wfile.write(body)
        if promised is not None:
            self.close_connection = True

    def log_message(self, *words):
        pass


class Server:
    def __init__(self, files, behave=None):
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.block_on_close = False
        self.http.files, self.http.behave, self.http.asked = files, behave, []
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def asked(self):
        return self.http.asked

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_address[1]}/data"

    def close(self):
        self.http.shutdown()
        self.http.server_close()


class Mirrors(ProgramTest):
    def setUp(self):
        super().setUp()
        self.to = self.folder / "to"
        self.files = {name: gzip.compress(os.urandom(2000 + len(name))) for name in NAMES}

    def server(self, files=None, behave=None):
        server = Server(self.files if files is None else files, behave)
        self.addCleanup(server.close)
        return server

    def words(self, *mirrors, name="kmnist", patience=1):
        asked = [word for mirror in mirrors for word in ("--mirror", mirror if isinstance(mirror, str) else mirror.url)]
        return ["datasets", "get", name, "--to", self.to, "--patience", patience, *asked]

    def get(self, *mirrors, name="kmnist", **options):
        return run(*self.words(*mirrors, name=name), "--json", **options)

    def assert_has_all(self, files=None):
        found = {path.name: path.read_bytes() for path in self.to.iterdir()}
        self.assertEqual(found, self.files if files is None else files)


class Download(Mirrors):
    def test_a_good_mirror(self):
        server = self.server()
        result = self.get(server)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = last_json(result)
        self.assertEqual(report["files"], report["unchecked"])
        self.assertEqual(sorted(report["files"]), sorted(NAMES))
        self.assert_has_all()
        self.assertEqual(last_json(self.get(server))["files"], [])
        self.assertEqual(len(server.asked), 4)

    def test_the_next_mirror_is_asked(self):
        absent, good = self.server({}), self.server()
        result = self.get(absent, "http://127.0.0.1:9/", good)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the server answers 404", result.stderr)
        self.assert_has_all()
        self.assertTrue(absent.asked)

    def test_what_breaks_off_is_gone_on_with(self):
        def break_off(handler, name, body, start):
            if name != NAMES[0] or start > 0:
                return False
            handler.answer(200, body[:1000], promised=len(body))
            return True

        server = self.server(behave=break_off)
        result = self.get(server)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("going on at byte 1000", result.stderr)
        self.assertEqual([start for path, start in server.asked if path.endswith(NAMES[0])], [0, 1000])
        self.assert_has_all()

    def test_a_server_without_ranges_sends_all_again(self):
        def whole(handler, name, body, start):
            handler.answer(200, body)
            return True

        self.to.mkdir()
        (self.to / (NAMES[0] + ".part")).write_bytes(b"another beginning")
        self.assertEqual(self.get(self.server(behave=whole)).returncode, 0)
        self.assert_has_all()

    def test_a_part_longer_than_the_file_is_dropped(self):
        self.to.mkdir()
        (self.to / (NAMES[0] + ".part")).write_bytes(b"x" * 100_000)
        result = self.get(self.server())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_has_all()

    def test_a_mirror_that_sends_nothing_is_given_up(self):
        def hang(handler, name, body, start):
            time.sleep(6)
            return True

        def stall(handler, name, body, start):
            handler.answer(200, body[:10], promised=len(body))
            handler.wfile.flush()
            time.sleep(6)
            return True

        del self.files[NAMES[3]], self.files[NAMES[2]], self.files[NAMES[1]]
        self.to.mkdir()
        for name in NAMES[1:]:
            self.files[name] = b"there already"
            (self.to / name).write_bytes(b"there already")
        began = time.monotonic()
        result = self.get(self.server(behave=hang), self.server(behave=stall), self.server())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(time.monotonic() - began, 60)
        self.assert_has_all()

    def test_no_mirror(self):
        result = self.get("http://127.0.0.1:9/", self.server({}))
        self.assertEqual(result.returncode, 3)
        last = result.stderr.strip().splitlines()[-1]
        for phrase in ("127.0.0.1:9", "404", "Without a network put", *NAMES, str(self.to)):
            self.assertIn(phrase, last)
        self.assertEqual(list(self.to.iterdir()), [])

    def test_names_that_cannot_be_got(self):
        self.assert_fails(self.get(name="kmist"), 2, "did you mean 'kmnist'?")
        self.assert_fails(self.get(name="moons"), 2, "moons is made by the seed")
        self.assert_fails(run("datasets", "gett"), 2, "did you mean 'get'?")
        self.assertFalse(self.to.exists())

    def test_other_protocols_are_refused(self):
        (self.folder / NAMES[0]).write_bytes(b"a local file")
        result = self.get(f"file://{self.folder}")
        self.assertEqual(result.returncode, 3)
        self.assertFalse((self.to / NAMES[0]).exists())

    def test_without_libcurl(self):
        (self.folder / "libtreadle-curl.so").write_text("not a library", encoding="utf-8")
        result = self.get(self.server(), environment={"TREADLE_PLUGINS": str(self.folder)})
        self.assert_fails(result, 3, "downloads need libcurl", "cannot be opened")
        self.assertFalse(self.to.exists())

    def test_proxies(self):
        proxy, mirror = self.server(), "http://mirror.invalid/data"
        environment = {"http_proxy": proxy.url.removesuffix("/data")}
        self.assertEqual(self.get(mirror, environment=environment).returncode, 0)
        self.assertIn(("http://mirror.invalid/data/" + NAMES[0], 0), proxy.asked)
        self.assert_has_all()
        shutil.rmtree(self.to)
        asked = len(proxy.asked)
        self.assertEqual(self.get(mirror, environment=environment | {"no_proxy": "mirror.invalid"}).returncode, 3)
        self.assertEqual(len(proxy.asked), asked)

    def test_an_interruption_keeps_what_has_come(self):
        def slowly(handler, name, body, start):
            if start == 0 and name == NAMES[0]:
                handler.answer(200, body[:500], promised=len(body))
                handler.wfile.flush()
                sent.set()
                time.sleep(20)
                return True
            return False

        sent = threading.Event()
        server = self.server(behave=slowly)
        words = [str(word) for word in self.words(server, patience=30)]
        process = subprocess.Popen([PROGRAM, *words], stderr=subprocess.PIPE, text=True)
        self.assertTrue(sent.wait(60))
        part = self.to / (NAMES[0] + ".part")
        while not part.exists() or part.stat().st_size < 500:
            time.sleep(0.01)
        self.assert_fails(self.get(server), 1, "is being downloaded by another process")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("interrupted; what has come is kept", errors)
        self.assertEqual(part.read_bytes(), self.files[NAMES[0]][:500])
        self.assertEqual(self.get(server).returncode, 0)
        self.assertIn(("/data/" + NAMES[0], 500), server.asked)
        self.assert_has_all()

    def test_an_archive_is_unpacked(self):
        members = {f"data_batch_{i}.bin": bytes([i]) + bytes(3072) for i in range(1, 6)} | {"test_batch.bin": bytes(3073)}
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for name, contents in (members | {"readme.html": b"read me"}).items():
                entry = tarfile.TarInfo("cifar-10-batches-bin/" + name)
                entry.size = len(contents)
                archive.addfile(entry, io.BytesIO(contents))
        server = self.server({"cifar-10-binary.tar.gz": packed.getvalue()})
        result = self.get(server, name="cifar-10")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_has_all(members)
        self.assertEqual(last_json(self.get(server, name="cifar-10"))["files"], [])
        (self.to / "test_batch.bin").unlink()
        cut = self.server({"cifar-10-binary.tar.gz": packed.getvalue()[:-60]})
        self.assert_fails(self.get(cut, name="cifar-10"), 1, "cifar-10-binary.tar.gz", "it was removed: get it again")
        self.assertFalse((self.to / "cifar-10-binary.tar.gz").exists())


@unittest.skipUnless(FASHION.exists(), "the package dataset-fashion-mnist is not installed")
class Checksums(Mirrors):
    def setUp(self):
        super().setUp()
        self.files = {name: (FASHION / name).read_bytes() for name in NAMES}
        self.last = NAMES[3]
        self.to.mkdir()
        for name in NAMES[:3]:
            (self.to / name).write_bytes(self.files[name])

    def get(self, *mirrors, name="fashion-mnist", **options):
        return super().get(*mirrors, name=name, **options)

    def test_a_good_mirror(self):
        report = last_json(self.get(self.server()))
        self.assertEqual((report["files"], report["unchecked"]), ([self.last], []))
        self.assert_has_all()

    def test_a_file_that_is_another_comes_from_the_next_mirror(self):
        wrong = gzip.compress(bytes(10008))
        liar, short = self.server({self.last: wrong}), self.server({self.last: gzip.compress(bytes(5))})
        result = self.get(liar, short, self.server())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("its SHA-256 is", result.stderr)
        self.assertIn("more bytes are needed", result.stderr)
        self.assert_has_all()
        (self.to / self.last).unlink()
        self.assert_fails_at_last(self.get(liar))
        self.assertFalse((self.to / self.last).exists())

    def assert_fails_at_last(self, result):
        self.assertEqual(result.returncode, 3)
        self.assertIn("its SHA-256 is", result.stderr.strip().splitlines()[-1])

    def test_a_wrong_beginning_is_fetched_anew(self):
        (self.to / (self.last + ".part")).write_bytes(b"x" * 100)
        server = self.server()
        result = self.get(server)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("it is fetched anew", result.stderr)
        self.assertEqual([start for _, start in server.asked], [100, 0])
        self.assert_has_all()

    def test_a_damaged_file_that_is_there_is_replaced(self):
        (self.to / self.last).write_bytes(self.files[self.last][:-100])
        self.assertEqual(last_json(self.get(self.server()))["files"], [self.last])
        self.assert_has_all()


if __name__ == "__main__":
    unittest.main()
