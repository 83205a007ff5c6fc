import type { Queryable } from '../../../database/pool.js'
import { type EndpointRow, listEndpoints } from '../../../storage/webhooks/health.js'

/** How long an endpoint is used without reading it again, in case a notification was lost. */
const KEEP_MS = 1_000

/** The endpoints of webhooks as this process knows them. */
export class KnownEndpoints {
  readonly #known = new Map<string, { row: EndpointRow | null; readAt: number }>()
  /** How often all were forgotten. */
  #changes = 0

  /** The endpoint of a webhook; null: the webhook is not active; undefined: it has to be read. */
  get(webhookId: string): EndpointRow | null | undefined {
    const known = this.#known.get(webhookId)
    return known && performance.now() - known.readAt <= KEEP_MS ? known.row : undefined
  }

  /** Reads and returns the endpoints of the active webhooks of these organizations. */
  async readOf(db: Queryable, organizationIds: readonly string[]): Promise<EndpointRow[]> {
    for (;;) {
      const before = this.#changes
      const rows = await listEndpoints(db, organizationIds)
      if (this.#changes !== before) continue
      for (const row of rows) this.#note(row.id, row)
      return rows
    }
  }

  /** Reads those of these webhooks that are not known. */
  async readUnknown(db: Queryable, webhooks: readonly { id: string; organization_id: string }[]): Promise<void> {
    const unknown = webhooks.filter(({ id }) => this.get(id) === undefined)
    if (unknown.length === 0) return
    for (const id of this.#known.keys()) if (this.get(id) === undefined) this.#known.delete(id)
    await this.readOf(db, [...new Set(unknown.map(({ organization_id }) => organization_id))])
    for (const { id } of unknown) if (!this.#known.has(id)) this.#note(id, null)
  }

  /** Forgets all of them: webhooks have changed. */
  clear(): void {
    this.#known.clear()
    this.#changes += 1
  }

  #note(id: string, row: EndpointRow | null): void {
    this.#known.set(id, { row, readAt: performance.now() })
  }
}
