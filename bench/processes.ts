import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** The unit of the times in /proc: USER_HZ, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100

interface Stat {
  parent: number
  /** Seconds of CPU, user and system. */
  own: number
  /** The same of children that have ended. */
  endedChildren: number
}

/** Seconds of CPU that a process has used, in all threads. */
export function cpuOf(pid: number): number {
  return readStat(pid).own
}

/** Seconds of CPU that a process and its children have used, including ended ones. */
export function cpuOfTree(pid: number): number {
  const { own, endedChildren } = readStat(pid)
  return childrenOf(pid).reduce((sum, child) => sum + child.own, own + endedChildren)
}

/** The parent of this process. */
export function parentOf(pid: number): number {
  return readStat(pid).parent
}

/** The peak memory (RSS, in MB of 1,000,000 bytes) of a process since resetPeakMemory. */
export function peakMemoryOf(pid: number): number {
  return readMemory(pid, 'VmHWM')
}

/** The current memory (RSS, in MB of 1,000,000 bytes) of a process. */
export function memoryOf(pid: number): number {
  return readMemory(pid, 'VmRSS')
}

/** Resets the value of peakMemoryOf. */
export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

function childrenOf(parent: number): Stat[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    try {
      const stat = readStat(Number(pid))
      return stat.parent === parent ? [stat] : []
    } catch {
      return [] // it ended in the meantime
    }
  })
}

/** Fields as in proc(5), counted after the name, which is in brackets and may contain anything. */
function readStat(pid: number): Stat {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const seconds = (index: number) => Number(fields[index]) / TICKS_PER_SECOND
  return { parent: Number(fields[1]), own: seconds(11) + seconds(12), endedChildren: seconds(13) + seconds(14) }
}

function readMemory(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]
  if (kilobytes === undefined) throw new Error(`/proc/${pid}/status has no ${field}`)
  return (Number(kilobytes) * 1024) / 1e6
}
