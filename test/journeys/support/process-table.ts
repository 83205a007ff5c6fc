import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/**
 * The processes that a process started, theirs included; those that have ended and wait to be collected do not count.
 */
export async function descendantsOf(pid: number): Promise<number[]> {
  const table = await readTable()
  const below = (parent: number): number[] =>
    table.filter((process) => process.parent === parent).flatMap((process) => [process.pid, ...below(process.pid)])
  return below(pid)
}

/** Those of the processes that still run. */
export async function stillRunning(pids: number[]): Promise<number[]> {
  const table = await readTable()
  return table.map(({ pid }) => pid).filter((pid) => pids.includes(pid))
}

interface Entry {
  pid: number
  parent: number
}

async function readTable(): Promise<Entry[]> {
  const lines = process.platform === 'linux' ? await readProc() : await askPs()
  return lines.flatMap(([pid, parent, state]) =>
    state?.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent) }],
  )
}

/** Small systems have no `ps`. */
async function readProc(): Promise<(string | undefined)[][]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  // pid (name) state parent …, where a name may hold anything.
  return stats
    .filter((stat) => stat !== '')
    .map((stat) => {
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return [stat.split(' ')[0], parent, state]
    })
}

async function askPs(): Promise<(string | undefined)[][]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,state='])
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
}
