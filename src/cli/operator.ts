import type { Config } from '../config.js'
import type { Context, CredentialsContext, OperatorContext } from '../context.js'
import type { LinkContext } from '../core/identity/sign-in-links.js'
import { createSignInTokens } from '../core/identity/sign-in-tokens.js'
import { createMediaLinks } from '../core/media/links.js'
import { createNotificationSender } from '../core/runtime/notifications.js'
import { createSecretBox } from '../lib/crypto/secret-box.js'
import { createLogger } from '../log.js'
import { openConfiguredDatabase, prepareSchema, requireSecrets, requireSharedConfig } from './environment.js'
import type { Environment } from './invocation.js'

/** What the help says of `--org`. */
export const ORGANIZATION = 'of which organization: its id or slug'

/**
 * Does an operator's work over the configured database, beside a running service or without one: the embedded database is
 * borrowed from it, or started for as long as this takes. Throws a CliFailure of code 2.
 */
export async function asOperator<Result>(
  env: Environment,
  work: (ctx: OperatorContext, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = await requireSharedConfig(env)
  return overDatabase(config, (ctx) => work(ctx, config))
}

/** The same for work that stores credentials, which are sealed with the service's master key. */
export async function withCredentials<Result>(
  env: Environment,
  work: (ctx: CredentialsContext, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = await requireSharedConfig(env)
  const { masterKeys } = await requireSecrets(config)
  const secrets = createSecretBox(masterKeys)
  // A simulator that a service started is that service's to tell of numbers; its workers look for jobs every two seconds.
  const service = { linkWithSimulator: null, wakeWorkers: () => undefined }
  return overDatabase(config, (ctx) => work({ ...ctx, ...service, secrets }, config))
}

/** The same for work that shows messages: their files have the addresses that the service gives them. */
export async function withMediaLinks<Result>(
  env: Environment,
  work: (ctx: OperatorContext & Pick<Context, 'mediaLinks'>) => Promise<Result>,
): Promise<Result> {
  return asOperator(env, async (ctx, config) => {
    const { masterKeys } = await requireSecrets(config)
    return work({ ...ctx, mediaLinks: createMediaLinks(masterKeys, () => publicUrlOf(config)) })
  })
}

/** The same for work that makes links by which members sign in at the service. */
export async function withSignInLinks<Result>(
  env: Environment,
  work: (ctx: LinkContext) => Promise<Result>,
): Promise<Result> {
  return asOperator(env, async (ctx, config) => {
    const { masterKeys } = await requireSecrets(config)
    return work({ ...ctx, signInTokens: createSignInTokens(masterKeys), publicUrl: () => publicUrlOf(config) })
  })
}

/** Where a service with these settings is reached. */
export function publicUrlOf({ host, port, publicUrl }: Config): string {
  return publicUrl ?? `http://${host}:${port}`
}

async function overDatabase<Result>(config: Config, work: (ctx: OperatorContext) => Promise<Result>): Promise<Result> {
  const { database, close } = await openConfiguredDatabase(config, createLogger(config.logLevel), { hold: false })
  const signals = createNotificationSender(database)
  try {
    await prepareSchema(config, database, { migrate: false })
    return await work({ database, clock: () => new Date(), notifications: signals })
  } finally {
    await signals.sent()
    await close()
  }
}
