package sandbox

// basePaths are the files that every action may read and run: programs, libraries, and the system settings and state
// that these read. Files about users, such as /etc/shadow, are not among them.
var basePaths = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/etc/locale.alias", "/etc/os-release",
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf",
	"/etc/protocols", "/etc/services", "/etc/fonts", "/etc/perl", "/etc/java", "/etc/mime.types", "/etc/magic",
	"/etc/debian_version",
	"/etc/gitconfig", "/etc/wgetrc", // git and wget do not go on without, if they are there
	"/proc", "/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm", "/sys/fs/cgroup",
}

// baseDevices are the devices that every action may use.
var baseDevices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
	"/dev/ptmx", "/dev/pts"}

// sharedDir holds the semaphores and shared memory of libc. Every action may write there, even where several actions
// share the folder.
const sharedDir = "/dev/shm"
