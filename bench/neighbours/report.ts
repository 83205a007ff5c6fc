import { formatTable, type Target } from '../report.js'
import type { Beside, Neighbours, StepCost } from '../subjects/neighbours.js'
import { STEPS, type Step } from './quiet.js'

const MAX_RATIO = 3
/** What the heap of a process may have grown by, in MB. */
const MAX_GROWTH_MB = 150

/** Formats the measurements as one table for the medians and one for the 99th percentiles. */
export function formatNeighbours(measured: Neighbours): string {
  return [
    formatCosts('p50 ms, alone → beside', measured, ({ p50Ms }) => p50Ms),
    formatCosts('p99 ms, alone → beside', measured, ({ p99Ms }) => p99Ms),
    formatNoises(measured),
  ].join('\n\n')
}

function formatCosts(head: string, { noises }: Neighbours, read: (cost: StepCost) => number): string {
  return formatTable(
    [head, ...STEPS],
    noises.map((noise) => [noise.title, ...STEPS.map((step) => formatPair(noise, step, read))]),
  )
}

function formatPair({ alone, beside }: Beside, step: Step, read: (cost: StepCost) => number): string {
  const [base, value] = [read(alone[step]), read(beside[step])]
  return `${base.toFixed(1)} → ${value.toFixed(1)} (${(value / base).toFixed(1)})`
}

function formatNoises({ noises, memoryBeforeMb }: Neighbours): string {
  return formatTable(
    [`memory of the service: ${memoryBeforeMb.toFixed(0)} MB before all`, 'rounds beside it', 'left to do', 'MB after'],
    noises.map(({ title, rounds, remaining, memoryMb }) => [
      title,
      String(rounds),
      String(remaining),
      memoryMb.toFixed(0),
    ]),
  )
}

/** Compares the measurements with the targets. */
export function judgeNeighbours({ noises, memoryBeforeMb }: Neighbours): Target[] {
  const last = noises.at(-1)?.memoryMb ?? memoryBeforeMb
  return [
    ...noises.map((noise) => {
      const { step, ratio } = worstOf(noise)
      const target = `${noise.title}: p99 of each step at most ${MAX_RATIO} times that alone`
      return { target, measured: `${ratio.toFixed(1)} times (${step})`, met: ratio <= MAX_RATIO }
    }),
    {
      target: `memory of the service after all at most ${MAX_GROWTH_MB} MB more than before`,
      measured: `${memoryBeforeMb.toFixed(0)} and ${last.toFixed(0)} MB`,
      met: last <= memoryBeforeMb + MAX_GROWTH_MB,
    },
  ]
}

function worstOf({ alone, beside }: Beside): { step: Step; ratio: number } {
  const ratios = STEPS.map((step) => ({ step, ratio: beside[step].p99Ms / alone[step].p99Ms }))
  return ratios.reduce((worst, one) => (one.ratio > worst.ratio ? one : worst))
}
