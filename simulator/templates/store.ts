import { hash } from 'node:crypto'
import { TemplateHistory } from './history.js'
import { requirementsOf, type TemplateRequirements } from './requirements.js'
import { sampleTemplates } from './samples.js'
import type { Template } from './template.js'

/** A template of a business account. */
export interface StoredTemplate extends Template {
  /** Digits; always the same for one account, name and language. */
  id: string
}

interface Entry {
  template: StoredTemplate
  requirements: TemplateRequirements
  /** Its position in the list, which it keeps when it is replaced. */
  position: number
}

/** The templates of all business accounts. Each account starts with the samples. */
export class Templates {
  readonly #accounts = new Map<string, Map<string, Entry>>()
  /** What limits later creations and edits. */
  readonly history = new TemplateHistory()
  #positions = 0

  /** Adds an account with the samples; a known account stays unchanged. */
  open(accountId: string): void {
    if (this.#accounts.has(accountId)) return
    this.#accounts.set(accountId, new Map())
    for (const template of sampleTemplates) this.put(accountId, template)
  }

  /** A template with its requirements. */
  find(accountId: string, name: string, language: string): Entry | undefined {
    return this.#accounts.get(accountId)?.get(keyOf(name, language))
  }

  /** A template by its id, with its account. */
  findById(id: string): { accountId: string; template: StoredTemplate } | undefined {
    for (const [accountId, entries] of this.#accounts) {
      for (const { template } of entries.values()) if (template.id === id) return { accountId, template }
    }
    return undefined
  }

  /** The templates of an account after the position `after`, in order. */
  list(accountId: string, after = 0): Entry[] {
    return Array.from(this.#accounts.get(accountId)?.values() ?? []).filter(({ position }) => position > after)
  }

  /** Adds a template to a known account, and replaces one with the same name and language. */
  put(accountId: string, template: Template): StoredTemplate {
    const entries = this.#accounts.get(accountId)
    if (!entries) throw new Error(`The account ${accountId} is not known`)
    const key = keyOf(template.name, template.language)
    const position = entries.get(key)?.position ?? ++this.#positions
    const stored = { ...template, id: idOf(accountId, key) }
    entries.set(key, { template: stored, requirements: requirementsOf(template), position })
    return stored
  }

  /** Deletes a template; false if it does not exist. */
  remove(accountId: string, name: string, language: string): boolean {
    return this.#accounts.get(accountId)?.delete(keyOf(name, language)) ?? false
  }

  /** Restores the samples of every account, and deletes all other templates. */
  reset(): void {
    const known = [...this.#accounts.keys()]
    this.clear()
    for (const accountId of known) this.open(accountId)
  }

  /** Deletes the accounts too. */
  clear(): void {
    this.#accounts.clear()
    this.history.clear()
  }
}

function keyOf(name: string, language: string): string {
  return `${name} ${language}`
}

/** 16 digits, few enough for a JSON number, as callbacks contain the id. */
function idOf(accountId: string, key: string): string {
  return String(10 ** 15 + Number.parseInt(hash('sha256', `${accountId} ${key}`, 'hex').slice(0, 12), 16))
}
