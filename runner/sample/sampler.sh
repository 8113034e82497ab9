# Prints samples of the device and of a process until the process or standard input ends. It runs in the device's own shell: mksh on phones,
# ash or dash on boards. Each tick forks one sleep and nothing else. Arithmetic stays below 2^31: mksh counts in 32 bits.
#
# Set before: root (a folder before /proc and /sys, for tests), pid_file, interval (in seconds), interval_ms.
exec 2>/dev/null
unset IFS
p=$root/proc s=$root/sys
main=$$

# reading sets v to the number in the file $1, "-" if there is none.
reading() {
	v=
	read -r v w <"$1" || [ "$v" ] || v=-
	case $v in
	Discharging) v=1 ;;
	Charging | Full | Not | Unknown) v=0 ;;
	*[!0-9-]* | ?*-* | '') v=- ;;
	esac
}

# of sets v to the reading of "PART WHOLE" as a percentage.
of() {
	v= w=
	read -r v w <"$1"
	case $v$w in '' | *[!0-9\ ]*) v=- && return ;; esac
	[ ${#w} -gt 7 ] && v=$((v / 1000)) w=$((w / 1000))
	[ "${w:-0}" -gt 0 ] && v=$((v * 100 / w)) || v=0
}

# absent says that the file $2 gives no reading, and Linux's number of the reason. $3 replaces the number 22, "no number in it".
absent() {
	e=${3:-22}
	[ -r "$2" ] || e=13
	[ -e "$2" ] || e=2
	echo "absent $1 $e ${2#"$root"}"
}

# stat_of reads the stat file of the process folder $1. The program's name in it may hold anything, also line ends.
stat_of() {
	line=
	while read -r part_of; do line=$line$part_of; done <"$1/stat" || return 1
	set -f
	set -- ${line##*") "}
	set +f
	[ $# -ge 18 ] || return 1
	state=$1 parent=$2 group=$3 session=$4 used=$((${12} + ${13} + ${14} + ${15})) tasks=${18}
}

# now sets at to the uptime in nanoseconds as text, and cs to hundredths of a second since the second of the first call.
now() {
	read -r at w <"$p/uptime"
	: "${base:=${at%.*}}"
	cs=$(((${at%.*} - base) * 100 + 1${at#*.} - 100)) at=${at%.*}${at#*.}0000000
}

# scan adds new processes of the command to members: descendants, its process group, its session. It reads each other process twice and no
# more: the parent may be behind its child in the list.
scan() {
	seen_now=" " once_now=" "
	for d in "$p"/[0-9]*; do
		n=${d##*/}
		case "$seen" in *" $n "*) seen_now="$seen_now$n " && continue ;; esac
		case "$pid$once" in '' | *" $n "*) seen_now="$seen_now$n " ;; *) once_now="$once_now$n " ;; esac
		[ "$pid" ] && stat_of "$d" || continue
		case " $members $pid " in
		*" $n "*) ;;
		*" $parent "* | *" $group "* | *" $session "*) members="$members $n" ;;
		esac
	done
	seen=$seen_now once=$once_now
}

# buffers adds the sizes of the DMA buffers that the process folder $1 holds open to dmabuf, in thousands of bytes: each inode once.
buffers() {
	for f in "$1"/fdinfo/*; do
		[ -e "$f" ] || continue
		[ $dmabuf = - ] && dmabuf=0
		size= inode= exporter=
		while read -r k v w; do
			case $k in size:) size=$v ;; ino:) inode=$v ;; exp_name:) exporter=yes ;; esac
		done <"$f"
		case $size in ????*) ;; *) continue ;; esac
		case "$inodes" in *" ${inode:-none} "*) continue ;; esac
		[ $exporter ] && dmabuf=$((dmabuf + ${size%???})) && inodes="$inodes${inode:+$inode }"
	done
}

# processes sets cells to those of the command. It fails if the command is gone.
processes() {
	cells=" - - - - - - -"
	[ "$pid" ] || return 0
	stat_of "$p/$pid" || return 1
	case $state in Z | X) return 1 ;; esac
	rss=0 hwm=0 ticks=0 threads=0 count=0 pss=- dmabuf=- left=
	for n in $pid $members; do
		stat_of "$p/$n" || continue
		case $state in Z | X) continue ;; esac
		while read -r k v w; do
			case $k in
			VmHWM:) [ "$v" -gt $hwm ] && hwm=$v ;;
			VmRSS:) rss=$((rss + v)) && break ;;
			esac
		done <"$p/$n/status"
		ticks=$((ticks + used)) threads=$((threads + tasks)) count=$((count + 1))
		[ "$n" = "$pid" ] || left="$left $n"
	done
	members=$left
	if [ $cs -ge $slow ]; then
		inodes=" "
		for n in $pid $members; do
			buffers "$p/$n"
			while read -r k v w; do
				[ "$k" = Pss: ] && { [ "$pss" = - ] && pss=0; pss=$((pss + v)) && break; }
			done <"$p/$n/smaps_rollup"
		done
	fi
	cells=" $rss $hwm $pss $ticks $dmabuf $count $threads"
}

# cores adds to cells the busy ticks of each core: user, nice, system, irq, softirq, steal.
cores() {
	i=0
	while read -r k a b c d e f g h w; do
		case $k in cpu) continue ;; cpu*) n=${k#cpu} ;; *) break ;; esac
		while [ $i -lt "$n" ] && [ $i -lt $count_cores ]; do cells="$cells -" i=$((i + 1)); done
		[ $i -lt $count_cores ] && cells="$cells $((a + b + c + f + g + h))" i=$((i + 1))
	done <"$p/stat"
	while [ $i -lt $count_cores ]; do cells="$cells -" i=$((i + 1)); done
}

echo "hexmage-samples 1"
echo "interval_ms $interval_ms"
for c in "rss kB" "rss_peak kB" "pss kB" "process_cpu ticks" "dmabuf kilobytes" "processes count" "threads count"; do echo "column $c"; done

count_cores=0
while read -r k w; do
	case $k in cpu) ;; cpu*) count_cores=$((${k#cpu} + 1)) ;; *) break ;; esac
done <"$p/stat"
read -r v <"$s/devices/system/cpu/present" && case $v in 0-[0-9] | 0-[0-9][0-9]) [ $((${v#0-} + 1)) -gt $count_cores ] && count_cores=$((${v#0-} + 1)) ;; esac
[ $count_cores -gt 0 ] || absent cpu "$p/stat"
i=0
while [ $i -lt $count_cores ]; do echo "column cpu$i ticks" && i=$((i + 1)); done

# memory sets v to the available memory in kB.
memory() {
	while read -r k v w; do [ "$k" = MemAvailable: ] && return; done <"$p/meminfo"
	v=-
}
memory
[ "$v" = - ] && absent mem_available "$p/meminfo"
[ "$v" = - ] || echo "column mem_available kB"
has_memory=$v

# sensor announces the column $1 with the unit $2 and the label $4 if the file $3 holds a number. It fails if not.
how=reading
sensor() {
	$how "$3"
	[ "$v" = - ] && absent "$1" "$3" && return 1
	echo "column $1 $2${4:+ $4}"
}
# The list of sensors is the script's own arguments.
set --
i=0
while [ -d "$s/devices/system/cpu/cpu$i" ]; do
	f=$s/devices/system/cpu/cpu$i/cpufreq/scaling_cur_freq
	sensor cpu_clock$i kHz "$f" && set -- "$@" "$f"
	i=$((i + 1))
done
k=$s/class/kgsl/kgsl-3d0 part=
if sensor gpu_busy percent "$k/gpu_busy_percentage"; then set -- "$@" "$k/gpu_busy_percentage"; else
	how=of
	sensor gpu_busy percent "$k/gpubusy" && part=$k/gpubusy && set -- "$@" "$part"
	how=reading
fi
sensor gpu_clock Hz "$k/gpuclk" && set -- "$@" "$k/gpuclk"
for k in "bus_clock kHz $s/devices/system/cpu/bus_dcvs" "devfreq driver $s/class/devfreq"; do
	n=${k%% *} k=${k#* } i=0
	[ -d "${k#* }" ] || absent "$n" "${k#* }"
	for d in "${k#* }"/*; do
		[ -d "$d" ] && [ $i -lt 32 ] || continue
		sensor "$n$i" "${k%% *}" "$d/cur_freq" "${d##*/}" && set -- "$@" "$d/cur_freq"
		i=$((i + 1))
	done
done
i=0
for d in "$s"/class/thermal/thermal_zone*; do
	[ $i -lt 128 ] && read -r k <"$d/type" || continue
	i=$((i + 1))
	sensor temperature${d##*zone} mC "$d/temp" "$k" && set -- "$@" "$d/temp"
done
[ $i -gt 0 ] || absent temperature "$s/class/thermal" 0
i=0
for d in "$s"/class/power_supply/*; do
	[ $i = 0 ] && read -r k <"$d/type" && [ "$k" = Battery ] || continue
	i=1
	for k in "current current_now uA" "voltage voltage_now uV" "discharging status bool"; do
		n=${k%% *} k=${k#* }
		sensor "battery_$n" "${k#* }" "$d/${k% *}" && set -- "$@" "$d/${k% *}"
	done
done
[ $i = 1 ] || absent battery "$s/class/power_supply" 0

pid= members= seen= once= base=
scan
echo begin
why=closed nap=
# A tick may be far away when standard input ends: what waits for that ends the nap.
exec 3<&0
{ while read -r k; do :; done <&3; kill $main; } >/dev/null &
watch=$!
exec 3<&-
end() {
	kill $watch $nap
	stat_of "$p/$main" || used=0
	echo "end $why ${used}0000"
	exit 0
}
trap end TERM

# The sampler repeats slow readings less often: they take at most a twentieth of the time. A reading that was late once is not slow.
slow=0 usual=0 next_scan=0 living=yes
while :; do
	now
	if [ "$pid" ] && [ $cs -ge $next_scan ]; then
		begun=$cs
		scan
		now
		next_scan=$((cs + 20 * (cs - begun)))
	fi
	begun=$cs row=$at
	processes || living=
	cores
	[ "$has_memory" = - ] || { memory && cells="$cells $v"; }
	if [ $begun -ge $slow ]; then
		for f do
			if [ "$f" = "$part" ]; then of "$f"; else reading "$f"; fi
			cells="$cells $v"
		done
		now
		took=$((cs - begun))
		slow=$((cs + 20 * (took < usual ? took : usual)))
		usual=$took
	else
		for f do cells="$cells -"; done
	fi
	echo "$row$cells" || exit 1
	[ $living ] || { why=gone && end; }
	if [ -z "$pid" ]; then
		while :; do
			sleep 0.02 || sleep 1 || exit 1
			read -r k <"$pid_file" && pid=$k && break
		done
		slow=0 seen= once= # a child may have been there before its parent was known
		continue
	fi
	sleep "$interval" &
	nap=$!
	wait $nap || { nap= && sleep 1; } || exit 1
	nap=
done
