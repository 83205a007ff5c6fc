import type { SecretBox } from '../../lib/crypto/secret-box.js'
import type { MovedTable } from '../../storage/maintenance/moved-tables.js'

/** The encrypted columns, and the context of their values (lib/crypto/secret-box) below the organization. */
const SEALED: Readonly<Record<string, string>> = {
  'upstream_settings.access_token': 'upstream.access_token',
  'upstream_settings.app_secret': 'upstream.app_secret',
  'storefront_settings.access_token': 'storefront.access_token',
  'storefront_settings.webhook_secret': 'storefront.webhook_secret',
  'instances.token': 'instance.token',
  'instances.access_token': 'instance.access_token',
  'instances.app_secret': 'instance.app_secret',
  'instances.settings': 'instance.wavoipToken',
  'device_credentials.credentials': '{instance_id}:device.credentials',
  'device_keys.value': '{instance_id}:device.key',
  'webhooks.headers': 'webhook.headers',
  'webhooks.secret': 'webhook.secret',
  'webhooks.previous_secret': 'webhook.secret',
  'idempotency_keys.answer': 'idempotency_keys.answer',
}

/** A bytea in PostgreSQL's COPY format, which doubles the backslash. */
const BYTES = /^\\\\x([0-9a-f]+)$/
/** The whole answer, or the one secret setting; a client's JSON cannot look like it. */
const IN_JSON = /^(\{|.*"wavoipToken": ?\{)"sealed": ?"([A-Za-z0-9+/=]+)"\}/

/** Encrypts the secrets of an organization under another key, in the fields of rows in COPY format. */
export interface Resealer {
  /** Changes the fields of a row of the table in place; null if the table has no secrets. */
  of(table: MovedTable): ((fields: string[]) => void) | null
}

/** Creates a resealer: `from` decrypts, `to` encrypts. */
export function createResealer(organizationId: string, from: SecretBox, to: SecretBox): Resealer {
  const again = (sealed: Buffer, context: string) => to.seal(from.open(sealed, context), context)
  return {
    of: ({ name, columns }) => {
      const instance = columns.indexOf('instance_id')
      const sealed = columns.flatMap((column, place) => {
        const context = SEALED[`${name}.${column}`]
        return context === undefined ? [] : [{ place, context: `${organizationId}:${context}` }]
      })
      if (sealed.length === 0) return null
      return (fields) => {
        for (const { place, context } of sealed) {
          const whole = context.replace('{instance_id}', fields[instance] ?? '')
          fields[place] = (fields[place] ?? '')
            .replace(BYTES, (_, hex: string) => `\\\\x${again(Buffer.from(hex, 'hex'), whole).toString('hex')}`)
            .replace(IN_JSON, (found, _, base64: string) =>
              found.replace(base64, () => again(Buffer.from(base64, 'base64'), whole).toString('base64')),
            )
        }
      }
    },
  }
}
