"""Attacks that each backend does not stop. `test_hostile.py` asserts the exact list: it fails for an unlisted attack that
succeeds and for a listed one that is stopped. `docs/sandbox.md` has the same table."""

import os

from forge.sandbox.backends.landlock import landlock_abi

BUBBLEWRAP: set[str] = set()

LANDLOCK = {
    # Landlock cannot make exceptions inside a writable folder.
    "change_git_config",
    "add_git_hook",
    "rename_git_away",
    "replace_git_by_exchange",
    "delete_from_git",
    "create_missing_name",
    # It does not cover modes, times and attributes of files.
    "change_mode_outside",
    "change_times_outside",
    "change_attribute_outside",
}

LANDLOCK_AS_USER = {
    # A command can slow down processes of the same user, but not those of root, because it has lost root's capabilities.
    "slow_another_down",
    "move_another",
}

LANDLOCK_BEFORE_6 = {"signal_another", "signal_another_by_handle"}

PLAIN = {
    # reads
    "read_ssh_key",
    "read_cloud_credentials",
    "read_netrc",
    "read_dotenv_above",
    "read_forge_database",
    "read_vault_key",
    "read_other_workspace",
    "list_folder_above",
    "list_host_tmp",
    "read_through_symlink",
    "read_through_directory_symlink",
    "read_through_dotdot_of_a_symlink",
    # writes
    "write_outside",
    "write_above",
    "write_other_workspace",
    "write_home_profile",
    "write_forge_data",
    "write_host_tmp",
    "write_through_symlink",
    "append_outside",
    "truncate_outside",
    "delete_outside",
    "rename_outside",
    "make_folder_outside",
    "link_outside",
    "change_mode_outside",
    "change_times_outside",
    "set_setuid_bit",
    "create_with_setuid_bit",
    "create_without_a_name_with_setuid_bit",
    # protected
    "change_git_config",
    "add_git_hook",
    "rename_git_away",
    "replace_git_by_exchange",
    "delete_from_git",
    "create_missing_name",
    # proc
    "see_other_processes",
    "read_command_line_of_another",
    # processes
    "signal_another",
    "signal_another_by_handle",
    "limit_another",
    # network
    "tcp_to_loopback",
    "udp_to_loopback",
    "unix_socket",
    "unix_socket_through_symlink",
    "unix_datagram",
    "abstract_socket",
    "listen_for_others",
    "listen_without_an_address",
    # kernel
    "shared_memory_of_another",
    "message_queue_of_another",
    "semaphore_of_another",
    "named_queue_of_another",
    "delete_named_queue_of_another",
}

# Without isolation the result depends on the machine: the user that runs Forge, and the kernel configuration.
PLAIN_DEPENDS = {
    # reads
    "read_real_home",
    "read_shadow",
    "read_ssl_private_keys",
    "read_machine_id",
    "read_through_hard_link",
    "race_a_rename_against_an_open",
    # writes
    "write_system_programs",
    "write_etc",
    "write_interpreter",
    "write_cron",
    "change_attribute_outside",
    # devices
    "open_kvm",
    "open_fuse",
    "fill_shared_memory",
    # proc
    "set_core_pattern",
    "drop_caches",
    "read_memory_of_another",
    "walk_through_root_of_another",
    "walk_through_cwd_of_another",
    "make_control_group",
    # environment
    "find_token_in_environment_of_another",
    # processes
    "trace_another",
    "take_file_of_another",
    "slow_another_down",
    "move_another",
    # network
    "tcp_to_loopback_6",
    "tcp_to_this_machine",
    "tcp_fast_open",
    "tcp_fast_open_by_message",
    "multipath_tcp",
    "udp_to_this_machine",
    "udp_lite",
    "netlink_socket",
    "vsock",
    "kernel_crypto_socket",
    "bluetooth_socket",
    "other_interfaces",
    # kernel
    "new_user_namespace",
    "new_user_namespace_by_clone",
    "clone3_with_namespace",
    "use_the_ring",
    "keep_a_key",
    "memory_without_an_owner",
    "shared_memory_without_an_owner",
    "change_personality",
    "int_80",
    "become_root",
}


def known_limits(backend: str) -> set[str]:
    if backend == "landlock":
        as_user = LANDLOCK_AS_USER if os.getuid() else set[str]()
        return LANDLOCK | as_user | (LANDLOCK_BEFORE_6 if landlock_abi() < 6 else set())
    return {"bubblewrap": BUBBLEWRAP, "plain": PLAIN}.get(backend, set())


def depends_on_machine(backend: str) -> set[str]:
    return PLAIN_DEPENDS if backend == "plain" else set()
