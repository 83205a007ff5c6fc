import { hash } from 'node:crypto'
import { requirementsOf, type TemplateRequirements } from './requirements.js'
import { sampleTemplates } from './samples.js'
import type { Template } from './template.js'

/** A template of a business account. */
export interface StoredTemplate extends Template {
  /** Digits; the same for the same account, name and language. */
  id: string
}

interface Entry {
  template: StoredTemplate
  requirements: TemplateRequirements
  /** Its place in the list, which it keeps when it is replaced. */
  position: number
}

/** The templates of every business account. Each account begins with the samples. */
export class Templates {
  readonly #accounts = new Map<string, Map<string, Entry>>()
  #positions = 0

  /** Makes an account known; one that is known keeps what it has. */
  open(accountId: string): void {
    if (this.#accounts.has(accountId)) return
    this.#accounts.set(accountId, new Map())
    for (const template of sampleTemplates) this.put(accountId, template)
  }

  /** A template and what its sends must bring along. */
  find(accountId: string, name: string, language: string): Entry | undefined {
    return this.#accounts.get(accountId)?.get(keyOf(name, language))
  }

  /** Those of an account with a place above `after`, by place. */
  list(accountId: string, after = 0): Entry[] {
    return Array.from(this.#accounts.get(accountId)?.values() ?? []).filter(({ position }) => position > after)
  }

  /** Keeps a template of a known account; one of the same name and language gives way. */
  put(accountId: string, template: Template): StoredTemplate {
    const entries = this.#accounts.get(accountId)
    if (!entries) throw new Error(`The account ${accountId} is not known`)
    const key = keyOf(template.name, template.language)
    const position = entries.get(key)?.position ?? ++this.#positions
    const stored = { ...template, id: idOf(accountId, key) }
    entries.set(key, { template: stored, requirements: requirementsOf(template), position })
    return stored
  }

  /** Forgets a template; false where there is none. */
  remove(accountId: string, name: string, language: string): boolean {
    return this.#accounts.get(accountId)?.delete(keyOf(name, language)) ?? false
  }

  /** Every account has the samples again, and nothing else. */
  reset(): void {
    const known = [...this.#accounts.keys()]
    this.#accounts.clear()
    for (const accountId of known) this.open(accountId)
  }

  /** Forgets the accounts too. */
  clear(): void {
    this.#accounts.clear()
  }
}

function keyOf(name: string, language: string): string {
  return `${name} ${language}`
}

/** 16 digits, few enough for a JSON number: callbacks tell the id as one. */
function idOf(accountId: string, key: string): string {
  return String(10 ** 15 + Number.parseInt(hash('sha256', `${accountId} ${key}`, 'hex').slice(0, 12), 16))
}
