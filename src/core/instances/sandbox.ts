import type { Context } from '../../context.js'
import type { Instance } from '../../model/instance.js'
import { listSandboxInstances } from '../../storage/instances.js'
import { recordState } from './state.js'

type SandboxContext = Pick<Context, 'database' | 'log' | 'sandboxes' | 'secrets' | 'signals'>

/** Makes the simulator know an instance's phone, as it was last; resolves to whether it knew of another state. Throws where it cannot. */
export async function registerSandbox(
  ctx: Pick<Context, 'sandboxes' | 'secrets'>,
  { organization_id: organizationId, name, state, owner, profile_name, access_token, app_secret }: Instance,
) {
  if (ctx.sandboxes === null || access_token === null || app_secret === null) return null
  return ctx.sandboxes.register({
    organizationId,
    name,
    accessToken: ctx.secrets.open(access_token, `${organizationId}:instance.access_token`),
    appSecret: ctx.secrets.open(app_secret, `${organizationId}:instance.app_secret`),
    state,
    number: owner,
    profileName: profile_name,
  })
}

/** Makes the simulator, where one is in use, know the phones of all organizations; what it knows better is taken over. */
export async function registerSandboxes(ctx: SandboxContext): Promise<void> {
  if (ctx.sandboxes === null) return
  for (const instance of await listSandboxInstances(ctx.database)) await register(ctx, instance)
}

async function register(ctx: SandboxContext, instance: Instance): Promise<void> {
  try {
    const phone = await registerSandbox(ctx, instance)
    if (phone === null || (phone.state === instance.state && phone.number === instance.owner)) return
    const { state, number: owner, profileName } = phone
    await recordState(ctx, instance.organization_id, instance.id, { state, owner, profileName })
  } catch (error) {
    ctx.log.warn({ err: error, instance: instance.name }, 'the simulator does not know a phone')
  }
}
