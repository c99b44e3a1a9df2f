"""Answers lines of JSON, each the words that follow `ceph`, as `ceph` does, on one connection.

Most of what a run of `ceph` costs is its own start. What is no plain command, or fails in
another way than by the cluster's answer, is answered with null: let `ceph` itself try.
"""
import argparse
import errno
import json
import os
import sys

import rados
from ceph_argparse import find_cmd_target, json_command, parse_json_funcsigs, validate_command

cluster = rados.Rados(name="client.admin", conffile=sys.argv[1], conf={"keyring": sys.argv[2], "client_mount_timeout": "30"})
cluster.connect()
signatures, commands = {}, {}
formats = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
formats.add_argument("--format")


def described(target):
    """What commands there are: those of the mgr only once it has told the mons."""
    code, text, _ = json_command(cluster, target=target, prefix="get_command_descriptions")
    if code:
        raise RuntimeError(f"no descriptions of commands: {code}")
    return parse_json_funcsigs(text.decode(), "cli")


def understood(words):
    """The target and the command that words mean, which are asked for again and again."""
    key = tuple(words)
    if key in commands:
        return commands[key]
    target = find_cmd_target(words)
    if words[0] == "tell":
        words = words[2:]
    options, words = formats.parse_known_args(words)
    form = {"format": options.format} if options.format else {}
    command = target in signatures and validate_command(signatures[target], words)
    if not command:
        signatures[target] = described(target)
        command = validate_command(signatures[target], words)
    if not command:
        raise RuntimeError("no such command")
    commands[key] = target, command | form
    return commands[key]


def answer(words):
    try:
        target, command = understood(words)
        code, text, told = json_command(cluster, target=target, argdict=command)
        text = text.decode()
    except Exception as failure:
        print(words, failure, file=sys.stderr)
        return None
    if code < 0:
        return {"error": f"Error {errno.errorcode.get(-code, 'Unknown')}: {told}"}
    return {"text": text}


with os.fdopen(3, "w") as answers:
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
os._exit(0)
