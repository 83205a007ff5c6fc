import type { Config } from '../config/settings.js'
import type { Context, CredentialsContext, OperatorContext } from '../context.js'
import type { LinkContext } from '../core/identity/sign-in-links.js'
import { createSignInTokens } from '../core/identity/sign-in-tokens.js'
import { createMediaLinks } from '../core/media/links.js'
import { createNotificationSender } from '../core/processes/notifications.js'
import { createSecretBox } from '../lib/crypto/secret-box.js'
import { createLogger } from '../log.js'
import { openConfiguredDatabase, prepareSchema, requireSecrets, requireSharedConfig } from './environment.js'
import type { Environment } from './invocation.js'

/** The help of `--org`. */
export const ORGANIZATION = 'id or slug of the organization (required)'

/**
 * Runs an operator's work on the configured database, with or without a running service: an embedded server is shared
 * with the service, or started for the time of the command. Throws a CliFailure with code 2.
 */
export async function asOperator<Result>(
  env: Environment,
  work: (ctx: OperatorContext, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = await requireSharedConfig(env)
  return overDatabase(config, (ctx) => work(ctx, config))
}

/** For work that stores credentials, which are encrypted with the service's master key. */
export async function withCredentials<Result>(
  env: Environment,
  work: (ctx: CredentialsContext, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = await requireSharedConfig(env)
  const { masterKeys } = await requireSecrets(config)
  const secrets = createSecretBox(masterKeys)
  // The service registers numbers with its own simulator.
  return overDatabase(config, (ctx) => work({ ...ctx, linkWithSimulator: null, secrets }, config))
}

/** For work that shows messages, whose files have addresses of the service. */
export async function withMediaLinks<Result>(
  env: Environment,
  work: (ctx: OperatorContext & Pick<Context, 'mediaLinks'>) => Promise<Result>,
): Promise<Result> {
  return asOperator(env, async (ctx, config) => {
    const { masterKeys } = await requireSecrets(config)
    return work({ ...ctx, mediaLinks: createMediaLinks(masterKeys, () => publicUrlOf(config)) })
  })
}

/** For work that creates sign-in links of the service. */
export async function withSignInLinks<Result>(
  env: Environment,
  work: (ctx: LinkContext) => Promise<Result>,
): Promise<Result> {
  return asOperator(env, async (ctx, config) => {
    const { masterKeys } = await requireSecrets(config)
    return work({ ...ctx, signInTokens: createSignInTokens(masterKeys), publicUrl: () => publicUrlOf(config) })
  })
}

/** The address of a service with these settings. */
export function publicUrlOf({ host, port, publicUrl }: Config): string {
  return publicUrl ?? `http://${host}:${port}`
}

async function overDatabase<Result>(config: Config, work: (ctx: OperatorContext) => Promise<Result>): Promise<Result> {
  const log = createLogger(config.logLevel)
  const { database, close } = await openConfiguredDatabase(config, log, { hold: false })
  const notifications = createNotificationSender(database)
  try {
    await prepareSchema(config, database, { migrate: false })
    return await work({ database, log, clock: () => new Date(), cell: config.cell ?? null, notifications })
  } finally {
    await notifications.sent()
    await close()
  }
}
