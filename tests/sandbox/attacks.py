"""Attempts to break out; copied into a work tree and run inside a sandbox, using only the standard library.

A successful attack returns a true value. `Absent` means that this machine has nothing to attack. Each attack runs in
a process of its own, because some are killed. Attacks undo their changes, for backends that allow them.
"""

import ctypes
import json
import mmap
import os
import platform
import shutil
import signal
import socket
import stat
import struct
import sys
import time
from pathlib import Path

WORLD = json.loads(sys.argv[2])
TOKEN = WORLD["token"]
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
X86 = platform.machine() == "x86_64"
ATTACKS = {}


class Absent(Exception):
    pass


def attack(group):
    def register(function):
        ATTACKS.setdefault(group, {})[function.__name__] = function
        return function

    return register


def syscall(x86, arm, *arguments):
    result = libc.syscall(ctypes.c_long(x86 if X86 else arm), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def read(path):
    return TOKEN in Path(path).read_text(errors="replace")


def family(number):
    """Return a socket family; the kernel may lack it."""
    if number not in WORLD["families"]:
        raise Absent
    return number


def existing(path):
    if not WORLD["exists"].get(path):
        raise Absent
    return path


# --- reading files of others


@attack("reads")
def read_ssh_key():
    return read(WORLD["home"] + "/.ssh/id_ed25519")


@attack("reads")
def read_cloud_credentials():
    return read(WORLD["home"] + "/.aws/credentials")


@attack("reads")
def read_netrc():
    return read(WORLD["home"] + "/.netrc")


@attack("reads")
def read_dotenv_above():
    return read("../.env")


@attack("reads")
def read_forge_database():
    return read(WORLD["data"] + "/forge.db")


@attack("reads")
def read_vault_key():
    return read(WORLD["data"] + "/vault.key")


@attack("reads")
def read_other_workspace():
    return read(WORLD["sibling"] + "/notes")


@attack("reads")
def read_real_home():
    return Path(WORLD["real_home_file"] or _absent()).read_bytes() is not None


@attack("reads")
def read_shadow():
    return Path(existing("/etc/shadow")).read_text()


@attack("reads")
def read_ssl_private_keys():
    return os.listdir(existing("/etc/ssl/private")) is not None


@attack("reads")
def read_machine_id():
    return Path(existing("/etc/machine-id")).read_text() is not None


@attack("reads")
def list_folder_above():
    return "home" in os.listdir("..")


@attack("reads")
def list_host_tmp():
    return WORLD["tmp_marker"] in os.listdir("/tmp")


@attack("reads")
def read_through_symlink():
    Path("to-secret").symlink_to(WORLD["data"] + "/forge.db")
    return read("to-secret")


@attack("reads")
def read_through_hard_link():
    os.link(WORLD["data"] + "/forge.db", "hard")
    return read("hard")


@attack("reads")
def read_through_directory_symlink():
    Path("to-folder").symlink_to(WORLD["data"], target_is_directory=True)
    return read("to-folder/forge.db")


@attack("reads")
def read_through_dotdot_of_a_symlink():
    Path("up").symlink_to("..", target_is_directory=True)
    return read("up/home/.netrc")


@attack("reads")
def race_a_rename_against_an_open():
    os.mkdir("swing")
    os.symlink(WORLD["data"], "swung")
    if os.fork() == 0:
        end = time.monotonic() + 0.4
        while time.monotonic() < end:
            os.rename("swing", "spare")
            os.rename("swung", "swing")
            os.rename("swing", "swung")
            os.rename("spare", "swing")
        os._exit(0)
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        try:
            if read("swing/forge.db"):
                return True
        except OSError:
            pass
    return False


@attack("reads")
def read_by_file_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128), 136)
    mount_id = ctypes.c_int()
    secret = (WORLD["data"] + "/forge.db").encode()
    syscall(303, 264, -100, ctypes.c_char_p(secret), handle, ctypes.byref(mount_id), 0)
    fd = syscall(304, 265, -100, handle, os.O_RDONLY)
    return TOKEN.encode() in os.read(fd, 1000)


@attack("reads")
def chroot_and_climb():
    os.mkdir("jail")
    os.chroot("jail")
    return read("../../../../../.." + WORLD["data"] + "/forge.db")


# --- writing files of others


def wrote(path):
    Path(path).write_text("x")
    os.unlink(path)
    return True


@attack("writes")
def write_outside():
    return wrote(WORLD["outside"] + "/file")


@attack("writes")
def write_above():
    Path("../above").write_text("x")
    return None  # the test that set the trap checks it


@attack("writes")
def write_other_workspace():
    return wrote(WORLD["sibling"] + "/file")


@attack("writes")
def write_home_profile():
    return wrote(WORLD["home"] + "/.bashrc")


@attack("writes")
def write_forge_data():
    return wrote(WORLD["data"] + "/file")


@attack("writes")
def write_system_programs():
    return wrote(f"/usr/bin/{TOKEN}")


@attack("writes")
def write_etc():
    return wrote(f"/etc/{TOKEN}")


@attack("writes")
def write_interpreter():
    return wrote(f"{sys.base_prefix}/lib/{TOKEN}")


@attack("writes")
def write_cron():
    return wrote(f"{existing('/etc/cron.d')}/{TOKEN}")


@attack("writes")
def write_host_tmp():
    path = f"/var/tmp/{TOKEN}"
    return wrote(path)


@attack("writes")
def write_through_symlink():
    Path("out").symlink_to(WORLD["outside"] + "/victim")
    Path("out").write_text("x")
    return True


@attack("writes")
def append_outside():
    with open(WORLD["outside"] + "/victim", "a") as file:
        file.write("x")
    return True


@attack("writes")
def truncate_outside():
    os.truncate(WORLD["outside"] + "/victim", 0)
    return True


@attack("writes")
def delete_outside():
    os.unlink(WORLD["outside"] + "/to-delete")
    return True


@attack("writes")
def rename_outside():
    os.rename(WORLD["outside"] + "/to-rename", "mine")
    return True


@attack("writes")
def make_folder_outside():
    os.mkdir(WORLD["outside"] + "/folder")
    return True


@attack("writes")
def link_outside():
    Path("source").write_text("x")
    os.link("source", WORLD["outside"] + "/link")
    return True


@attack("writes")
def change_mode_outside():
    os.chmod(WORLD["outside"] + "/victim", 0o777)
    return True


@attack("writes")
def change_times_outside():
    os.utime(WORLD["outside"] + "/victim", (1, 1))
    return True


@attack("writes")
def change_attribute_outside():
    os.setxattr(WORLD["outside"] + "/victim", "user.x", b"x")
    return True


@attack("writes")
def set_setuid_bit():
    Path("program").write_text("x")
    os.chmod("program", 0o4755)
    return bool(os.stat("program").st_mode & stat.S_ISUID)


@attack("writes")
def create_with_setuid_bit():
    os.close(os.open("created", os.O_CREAT | os.O_WRONLY, 0o4755))
    return bool(os.stat("created").st_mode & stat.S_ISUID)


@attack("writes")
def create_without_a_name_with_setuid_bit():
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o6755)
    return bool(os.fstat(fd).st_mode & stat.S_ISUID)


# --- protected names in the work tree


@attack("protected")
def change_git_config():
    Path(".git/config").write_text("[core]\n\tfsmonitor = evil\n")
    return True


@attack("protected")
def add_git_hook():
    Path(".git/hooks/pre-commit").write_text("#!/bin/sh\n")
    return True


@attack("protected")
def rename_git_away():
    os.rename(".git", "git-was-here")
    os.rename("git-was-here", ".git")
    return True


@attack("protected")
def replace_git_by_exchange():
    os.mkdir("other")
    result = libc.renameat2(-100, b"other", -100, b".git", 2)
    return result == 0 and libc.renameat2(-100, b"other", -100, b".git", 2) == 0


@attack("protected")
def delete_from_git():
    os.unlink(".git/HEAD")
    return True


@attack("protected")
def unmount_git():
    syscall(166, 39, ctypes.c_char_p(b".git"), 2)
    return True


@attack("protected")
def create_missing_name():
    os.makedirs(".protected/hooks")
    return True


# --- devices and /proc


def opened(path, flags):
    os.close(os.open(path, flags))
    return True


@attack("devices")
def open_memory():
    return opened(existing("/dev/mem"), os.O_RDONLY)


@attack("devices")
def open_kernel_log():
    return opened(existing("/dev/kmsg"), os.O_RDONLY)


@attack("devices")
def open_disk():
    return opened(WORLD["disk"] or _absent(), os.O_RDONLY)


@attack("devices")
def open_kvm():
    return opened(existing("/dev/kvm"), os.O_RDWR)


@attack("devices")
def open_fuse():
    return opened(existing("/dev/fuse"), os.O_RDWR)


@attack("devices")
def make_device():
    os.mknod("device", stat.S_IFBLK | 0o600, os.makedev(*WORLD["disk_number"]))
    return True


@attack("devices")
def fill_shared_memory():
    Path(f"/dev/shm/{TOKEN}").write_text("x")
    return None  # the test that set the trap checks it


@attack("devices")
def read_kernel_log_by_call():
    return syscall(103, 116, 3, ctypes.create_string_buffer(100), 100) >= 0


@attack("proc")
def set_core_pattern():
    return opened("/proc/sys/kernel/core_pattern", os.O_WRONLY)


@attack("proc")
def drop_caches():
    return opened("/proc/sys/vm/drop_caches", os.O_WRONLY)


@attack("proc")
def press_sysrq():
    return opened(existing("/proc/sysrq-trigger"), os.O_WRONLY)


@attack("proc")
def read_kernel_memory():
    return opened(existing("/proc/kcore"), os.O_RDONLY)


@attack("proc")
def see_other_processes():
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if TOKEN[::-1] in (folder / "cmdline").read_text():
                return True
        except OSError:
            continue
    return False


@attack("proc")
def read_command_line_of_another():
    return TOKEN[::-1] in Path(f"/proc/{WORLD['decoy']}/cmdline").read_text()


@attack("proc")
def read_memory_of_another():
    return opened(f"/proc/{WORLD['decoy']}/mem", os.O_RDONLY)


@attack("proc")
def walk_through_root_of_another():
    return read(f"/proc/{WORLD['decoy']}/root{WORLD['data']}/forge.db")


@attack("proc")
def walk_through_cwd_of_another():
    return read(f"/proc/{WORLD['decoy']}/cwd/forge.db")


@attack("proc")
def walk_through_root_of_the_first():
    return read(f"/proc/1/root{WORLD['data']}/forge.db")


@attack("proc")
def walk_through_an_inherited_file():
    for fd in os.listdir("/proc/self/fd"):
        for path in ("../../../../../../../.." + WORLD["data"] + "/forge.db", "forge.db"):
            try:
                if read(f"/proc/self/fd/{fd}/{path}"):
                    return True
            except OSError:
                continue
    return False


@attack("proc")
def make_control_group():
    for base in ("/sys/fs/cgroup", "/sys/fs/cgroup/pids"):
        try:
            os.mkdir(f"{base}/{TOKEN}")
            os.rmdir(f"{base}/{TOKEN}")
        except OSError:
            continue
        return True
    return False


@attack("proc")
def set_uevent_helper():
    return opened(existing("/sys/kernel/uevent_helper"), os.O_WRONLY)


# --- the environment


@attack("environment")
def find_token_in_own_environment():
    return TOKEN in str(dict(os.environ))


@attack("environment")
def find_token_in_environment_of_another():
    return read(f"/proc/{WORLD['decoy']}/environ")


@attack("environment")
def find_token_in_environment_of_parents():
    for pid in {os.getppid(), 1}:
        try:
            if TOKEN in Path(f"/proc/{pid}/environ").read_text():
                return True
        except OSError:
            continue
    return False


@attack("environment")
def find_inherited_files():
    for fd in range(3, 256):
        try:
            if TOKEN.encode() in os.pread(fd, 10_000, 0):
                return True
        except OSError:
            continue
    return False


# --- other processes


@attack("processes")
def signal_another():
    os.kill(WORLD["decoy"], 0)
    return True


@attack("processes")
def signal_another_by_handle():
    handle = os.pidfd_open(WORLD["decoy"])
    signal.pidfd_send_signal(handle, 0)
    return True


@attack("processes")
def trace_another():
    return syscall(101, 117, 16, WORLD["decoy"], 0, 0) == 0


@attack("processes")
def read_memory_of_another_by_call():
    buffer = ctypes.create_string_buffer(8)
    local = struct.pack("PN", ctypes.addressof(buffer), 8)
    remote = struct.pack("PN", WORLD["decoy_address"], 8)
    return syscall(310, 270, WORLD["decoy"], local, 1, remote, 1, 0) > 0


@attack("processes")
def take_file_of_another():
    handle = os.pidfd_open(WORLD["decoy"])
    return syscall(438, 438, handle, 0, 0) >= 0


@attack("processes")
def slow_another_down():
    os.setpriority(os.PRIO_PROCESS, WORLD["decoy"], 5)
    return True


@attack("processes")
def limit_another():
    import resource

    resource.prlimit(WORLD["decoy"], resource.RLIMIT_NOFILE, (50, 50))
    return True


@attack("processes")
def move_another():
    os.sched_setaffinity(WORLD["decoy"], os.sched_getaffinity(0))
    return True


# --- the network


def connect(family, address, kind=socket.SOCK_STREAM, protocol=0):
    with socket.socket(family, kind, protocol) as connection:
        connection.settimeout(1.5)
        connection.connect(address)
        connection.send(b"x")
    return True


@attack("network")
def tcp_to_loopback():
    return connect(socket.AF_INET, ("127.0.0.1", WORLD["tcp"]))


@attack("network")
def tcp_to_loopback_6():
    return connect(socket.AF_INET6, ("::1", WORLD["tcp6"] or _absent()))


@attack("network")
def tcp_to_this_machine():
    return connect(socket.AF_INET, (WORLD["address"] or _absent(), WORLD["tcp"]))


def connect_while_sending(send):
    with socket.socket() as connection:
        connection.settimeout(1.5)
        return send(connection, ("127.0.0.1", WORLD["tcp"])) == 1


@attack("network")
def tcp_fast_open():
    return connect_while_sending(lambda connection, to: connection.sendto(b"x", 0x20000000, to))


@attack("network")
def tcp_fast_open_by_message():
    return connect_while_sending(lambda connection, to: connection.sendmsg([b"x"], [], 0x20000000, to))


@attack("network")
def multipath_tcp():
    return connect(socket.AF_INET, ("127.0.0.1", WORLD["tcp"]), protocol=262)


@attack("network")
def udp_to_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", ("127.0.0.1", WORLD["udp"]))
    return None  # the listener outside records connections


@attack("network")
def udp_to_this_machine():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", (WORLD["address"] or _absent(), WORLD["udp"]))
    return True


@attack("network")
def udp_lite():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136) as sender:
        sender.connect((WORLD["address"] or _absent(), 9))
    return True


@attack("network")
def unix_socket():
    return connect(socket.AF_UNIX, WORLD["unix"])


@attack("network")
def unix_socket_through_symlink():
    os.symlink(WORLD["unix"], "socket")
    return connect(socket.AF_UNIX, "socket")


@attack("network")
def unix_datagram():
    return connect(socket.AF_UNIX, WORLD["unix_datagram"], socket.SOCK_DGRAM)


@attack("network")
def abstract_socket():
    return connect(socket.AF_UNIX, "\0" + TOKEN)


@attack("network")
def container_socket():
    for path in ("/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket"):
        if WORLD["exists"].get(path):
            return connect(socket.AF_UNIX, path)
    raise Absent


@attack("network")
def raw_socket():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return True


@attack("network")
def packet_socket():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return True


@attack("network")
def netlink_socket():
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()
    return True


@attack("network")
def vsock():
    socket.socket(family(40), socket.SOCK_STREAM).close()
    return True


@attack("network")
def kernel_crypto_socket():
    socket.socket(family(38), socket.SOCK_SEQPACKET).close()
    return True


@attack("network")
def bluetooth_socket():
    socket.socket(family(31), socket.SOCK_RAW, 1).close()
    return True


@attack("network")
def other_interfaces():
    return any(name != "lo" for _, name in socket.if_nameindex())


@attack("network")
def listen_for_others():
    with socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))
        return visited(listener)


@attack("network")
def listen_without_an_address():
    """The kernel chooses a port without `bind`."""
    with socket.socket() as listener:
        return visited(listener)


def visited(listener):
    listener.listen()
    Path("port").write_text(str(listener.getsockname()[1]))
    listener.settimeout(1.5)
    listener.accept()
    return True


# --- large attack surfaces of the kernel


@attack("kernel")
def new_user_namespace():
    return syscall(272, 97, 0x10000000) == 0


@attack("kernel")
def new_user_namespace_by_clone():
    pid = syscall(56, 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


@attack("kernel")
def clone3_with_namespace():
    arguments = struct.pack("QQQQQQQQ", 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    pid = syscall(435, 435, ctypes.c_char_p(arguments), len(arguments))
    if pid == 0:
        os._exit(0)
    return True


@attack("kernel")
def enter_namespace_of_another():
    return syscall(308, 268, os.open(f"/proc/{WORLD['decoy']}/ns/mnt", os.O_RDONLY), 0) == 0


@attack("kernel")
def mount_something():
    os.mkdir("mounted")
    return syscall(165, 40, b"tmpfs", b"mounted", b"tmpfs", 0, None) == 0


@attack("kernel")
def mount_the_new_way():
    return syscall(430, 430, ctypes.c_char_p(b"tmpfs"), 0) >= 0


@attack("kernel")
def remount_root_writable():
    return syscall(165, 40, None, b"/", None, 0x20 | 0x1000, None) == 0


@attack("kernel")
def load_bpf():
    attributes = struct.pack("IIII", 1, 4, 4, 1) + bytes(100)
    return syscall(321, 280, 0, ctypes.c_char_p(attributes), len(attributes)) >= 0


@attack("kernel")
def watch_performance():
    attributes = struct.pack("II", 1, 120) + bytes(112)
    return syscall(298, 241, ctypes.c_char_p(attributes), 0, -1, -1, 0) >= 0


@attack("kernel")
def handle_page_faults():
    return syscall(323, 282, 0) >= 0


@attack("kernel")
def use_the_ring():
    parameters = ctypes.create_string_buffer(120)
    return syscall(425, 425, 4, parameters) >= 0


@attack("kernel")
def keep_a_key():
    return syscall(248, 217, b"user", TOKEN.encode(), b"x", 1, -4) >= 0


@attack("kernel")
def memory_without_an_owner():
    return syscall(319, 279, b"hole", 0) >= 0


@attack("kernel")
def shared_memory_without_an_owner():
    result = syscall(29, 194, 0, 4096, 0o1600)
    syscall(31, 195, result, 0, None)
    return True


@attack("kernel")
def shared_memory_of_another():
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(WORLD["ipc"]["memory"], None, 0o10000)
    return address != ctypes.c_void_p(-1).value and ctypes.string_at(address, len(TOKEN)) == TOKEN.encode()


@attack("kernel")
def message_queue_of_another():
    return syscall(68, 186, WORLD["ipc"]["key"], 0) >= 0


@attack("kernel")
def semaphore_of_another():
    return syscall(64, 190, WORLD["ipc"]["key"], 0, 0) >= 0


@attack("kernel")
def named_queue_of_another():
    return syscall(240, 180, WORLD["ipc"]["named"].encode() or _absent(), os.O_RDWR, 0, None) >= 0


@attack("kernel")
def delete_named_queue_of_another():
    return syscall(241, 181, WORLD["ipc"]["named"].encode() or _absent()) == 0


@attack("kernel")
def change_personality():
    return syscall(135, 92, 0x0040000) >= 0


@attack("kernel")
def another_architecture():
    if not X86:
        raise Absent
    return libc.syscall(ctypes.c_long(0x40000000 | 39)) > 0


@attack("kernel")
def int_80():
    """32-bit system calls have different numbers; a filter that does not check the architecture allows them all."""
    if not X86:
        raise Absent
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3")  # getpid
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0


@attack("kernel")
def type_into_the_terminal():
    terminal = os.open("/dev/tty", os.O_RDWR)
    import fcntl

    fcntl.ioctl(terminal, 0x5412, b"x")
    return True


@attack("kernel")
def become_root():
    os.setuid(0)
    return bool(Path(existing("/etc/shadow")).read_text())


@attack("kernel")
def sudo_or_su():
    program = shutil.which("su") or _absent()
    return os.spawnv(os.P_WAIT, program, ["su", "-c", f"cat {WORLD['data']}/forge.db > su-got"]) == 0


@attack("kernel")
def lock_memory():
    size = 64 << 20
    region = mmap.mmap(-1, size)
    address = ctypes.addressof(ctypes.c_char.from_buffer(region))
    return libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(size)) == 0


@attack("kernel")
def set_the_clock():
    time.clock_settime(time.CLOCK_REALTIME, time.time())
    return True


@attack("kernel")
def real_time_priority():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return True


def _absent():
    raise Absent


def attempt(function):
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        os.close(told)
        try:
            result = "escaped" if function() else "blocked"
        except Absent:
            result = "absent"
        except BaseException:
            result = "blocked"
        os.write(tell, result.encode())
        os._exit(0)
    os.close(tell)
    result = os.read(told, 100).decode() or "blocked"
    os.close(told)
    os.waitpid(pid, 0)
    return result


if __name__ == "__main__":
    print(json.dumps({name: attempt(function) for name, function in ATTACKS[sys.argv[1]].items()}))
