import type { Context } from '../../../context.js'
import type { Instance } from '../../../model/instances/instance.js'
import { listOwnNumberInstances } from '../../../storage/instances/instances.js'
import { registerOwnNumber } from '../../organizations/instance-number.js'
import { recordState } from './connection-state.js'

type SimulatorContext = Pick<Context, 'sandboxes' | 'secrets' | 'linkWithSimulator'>
type SandboxContext = SimulatorContext & Pick<Context, 'database' | 'log' | 'notifications'>

/** Registers an instance's own number or phone with the simulator, if one is in use. Throws if that fails. */
export async function registerWithSimulator(ctx: SimulatorContext, instance: Instance): Promise<void> {
  if (instance.kind === 'sandbox') await registerSandbox(ctx, instance)
  else await registerOwnNumber(ctx, instance)
}

/**
 * Registers an instance's phone with its last state; returns the state in the simulator, null if there is no simulator.
 * Throws if that fails.
 */
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

/** Registers the instances of all organizations; if the simulator knows a newer state of a phone, it is recorded. */
export async function registerAllWithSimulator(ctx: SandboxContext): Promise<void> {
  if (ctx.sandboxes === null) return
  for (const instance of await listOwnNumberInstances(ctx.database)) {
    await registerOne(ctx, instance).catch((error: unknown) => {
      ctx.log.warn({ err: error, instance: instance.name }, "the simulator does not know an instance's number")
    })
  }
}

async function registerOne(ctx: SandboxContext, instance: Instance): Promise<void> {
  if (instance.kind !== 'sandbox') return registerOwnNumber(ctx, instance)
  const phone = await registerSandbox(ctx, instance)
  if (phone === null || (phone.state === instance.state && phone.number === instance.owner)) return
  const { state, number: owner, profileName } = phone
  await recordState(ctx, instance, { state, owner, profileName })
}
