import { TEMPLATE_LIMITS } from '../../src/upstream/template-limits.js'

const dayMs = 24 * 60 * 60_000
const monthMs = 30 * dayMs

/** When templates were edited and deleted. Times are in milliseconds. */
export class TemplateHistory {
  /** By the template's id. */
  readonly #edits = new Map<string, number[]>()
  /** By account and name. */
  readonly #deletions = new Map<string, number>()

  /** Whether an approved template may be edited again. */
  mayEdit(id: string, now: number): boolean {
    const ofMonth = (this.#edits.get(id) ?? []).filter((at) => at > now - monthMs)
    const ofDay = ofMonth.filter((at) => at > now - dayMs)
    return ofDay.length < TEMPLATE_LIMITS.edits.perDay && ofMonth.length < TEMPLATE_LIMITS.edits.perMonth
  }

  noteEdit(id: string, now: number): void {
    this.#edits.set(id, [...(this.#edits.get(id) ?? []), now].slice(-TEMPLATE_LIMITS.edits.perMonth))
  }

  /** Whether a name is free: no approved template of it was deleted in the last 30 days. */
  isFree(accountId: string, name: string, now: number): boolean {
    return (this.#deletions.get(`${accountId} ${name}`) ?? 0) <= now - monthMs
  }

  noteDeletion(accountId: string, name: string, now: number): void {
    this.#deletions.set(`${accountId} ${name}`, now)
  }

  clear(): void {
    this.#edits.clear()
    this.#deletions.clear()
  }
}
