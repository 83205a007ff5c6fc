import type { Context } from '../../../context.js'
import { isJsonObject } from '../../../lib/text/json.js'
import type { Instance } from '../../../model/instances/instance.js'
import { changeInstanceSettings } from '../../../storage/instances/instances.js'
import { instanceNotFound } from './find.js'

type Settings = Instance['settings']

/** The one secret setting: the key of a telephone service. */
const SECRET = 'wavoipToken'

/**
 * Changes the given settings and returns all of them in clear. A linked device applies them at the next renewal of its
 * lease. Throws instance_not_found.
 */
export async function setInstanceSettings(
  ctx: Pick<Context, 'database' | 'secrets'>,
  { organization_id: organizationId, id, name }: Instance,
  given: Settings,
): Promise<Settings> {
  const settings = await changeInstanceSettings(
    ctx.database,
    organizationId,
    id,
    encryptSettings(ctx, organizationId, given),
  )
  if (settings === null) throw instanceNotFound(name)
  return decryptSettings(ctx, { organization_id: organizationId, settings })
}

/** The settings as stored, with the secret encrypted as `{"sealed": <base64>}`. */
export function encryptSettings(
  { secrets }: Pick<Context, 'secrets'>,
  organizationId: string,
  settings: Settings,
): Settings {
  const secret = settings[SECRET]
  if (typeof secret !== 'string' || secret === '') return settings
  return { ...settings, [SECRET]: { sealed: secrets.seal(secret, contextOf(organizationId)).toString('base64') } }
}

/** The settings in clear. */
export function decryptSettings(
  { secrets }: Pick<Context, 'secrets'>,
  { organization_id: organizationId, settings }: Pick<Instance, 'organization_id' | 'settings'>,
): Settings {
  const secret = settings[SECRET]
  if (!isJsonObject(secret)) return settings
  const opened = secrets.open(Buffer.from(String(secret.sealed), 'base64'), contextOf(organizationId))
  return { ...settings, [SECRET]: opened }
}

function contextOf(organizationId: string): string {
  return `${organizationId}:instance.${SECRET}`
}
