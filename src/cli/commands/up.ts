import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Config } from '../../config/settings.js'
import { packageRoot } from '../../lib/files/package-root.js'
import { DEMO_CONTACT, DEMO_ORDER, type Demo, ensureDemo } from '../demo/demo.js'
import { requireConfig } from '../environment.js'
import { CliFailure } from '../failure.js'
import type { Invocation, Streams } from '../invocation.js'
import { reachable } from '../listening.js'
import { inOneLine } from '../output.js'
import { type Service, startService } from '../service.js'
import { type EndRequest, endingInOrder } from '../signals.js'
import { READY, tellSupervisor } from '../supervise.js'
import { keepUpSettings, UP_DEFAULTS } from '../up-settings.js'
import { readyLine } from './serve.js'

/** The options of `parley up`. */
export interface UpOptions {
  migrate?: boolean
  strict?: boolean
}

/**
 * `parley up`, also used by bin/up: runs the service, creates the demo if the sandbox is the upstream and not strict,
 * prints how to continue, and runs until it is asked to end.
 */
export async function up({ env, streams }: Invocation, options: UpOptions): Promise<void> {
  const config = requireConfig(env, UP_DEFAULTS)
  if (options.strict && config.upstreamUrl !== 'sandbox') {
    throw new CliFailure(2, `--strict is for the sandbox, and PARLEY_UPSTREAM_URL is ${config.upstreamUrl}`)
  }
  await endingInOrder((endRequest) => run(config, options, streams, endRequest))
}

async function run(
  config: Config,
  { migrate = false, strict = false }: UpOptions,
  { stdout }: Streams,
  endRequest: EndRequest,
): Promise<void> {
  const service = await startService(config, { migrate: migrate || 'if empty', sandbox: { strict } }, endRequest)
  const ended = service.untilAskedToEnd()
  try {
    // Commands connect numbers at the strict sandbox themselves.
    const upstreamUrl = strict && service.simulator ? service.simulator.upstreamUrl : config.upstreamUrl
    await keepUpSettings(config, reachable(service.app.url), upstreamUrl)
    const making = strict ? strictOutcome(config, service) : makeDemo(config, service, endRequest.signal)
    const outcome = await Promise.race([making, ended.then(() => null)])
    if (outcome === null) return
    tellSupervisor(READY)
    stdout.write(`${readyLine(service.app.url)}\n\n${describe(config, service, outcome)}`)
    await ended
  } finally {
    await service.close()
  }
}

type Outcome = { demo: Demo } | { demo: null; reason: string; next?: string[] }

/** Like WhatsApp, the strict sandbox knows nothing yet: what to make there first. */
async function strictOutcome(config: Config, { app, simulator }: Service): Promise<Outcome> {
  const simulated = `${reachable(app.url)}/_sim`
  const made = {
    'apps/1001': { secret: 'app-secret', published: false },
    'accounts/2001': { numbers: [{ id: '3001', account_mode: 'SANDBOX', recipients: ['5511999990000'] }] },
    'tokens/EAAtoken': { app_id: '1001', accounts: ['2001'] },
  }
  const calls = Object.entries(made).map(
    ([path, body]) =>
      `  curl -X PUT '${simulated}/${path}' -H "Authorization: Bearer $admin" -d '${JSON.stringify(body)}'`,
  )
  const command = ownCommand(config)
  const given = JSON.stringify({ access_token: 'EAAtoken', app_secret: 'app-secret' })
  return {
    demo: null,
    reason: 'The sandbox is strict: like WhatsApp, it knows only what was made. There is no demo.',
    next: [
      `Its control, ${simulated}, stands in for Meta's pages. Make an app with a test number and a token:`,
      [adminVariable(config), ...calls].join('\n'),
      config.databaseUrl === undefined
        ? 'Connect an organization with them:'
        : `Connect an organization with them, with PARLEY_UPSTREAM_URL=${simulator?.upstreamUrl} and the same PARLEY_DATABASE_URL:`,
      [
        `  ${command} org create --name Acme --slug acme --country BR`,
        `  echo '${given}' | ${command} org connect acme`,
      ].join('\n'),
      'The further steps are in docs/simulator.md#walk-the-way-of-a-number.',
    ],
  }
}

function adminVariable({ adminToken, dataDir }: Config): string {
  if (adminToken !== undefined) return '  admin="$PARLEY_ADMIN_TOKEN"'
  const path = JSON.stringify(join(dataDir, 'secrets.json'))
  return `  admin=$(node -p 'JSON.parse(fs.readFileSync(${path})).PARLEY_ADMIN_TOKEN')`
}

/** The service runs even if the demo failed; the next start tries again. */
async function makeDemo(
  config: Config,
  { app, secrets, simulator }: Service,
  signal: AbortSignal,
): Promise<Outcome | null> {
  const reason = whyNoDemo(config)
  if (reason !== null) return { demo: null, reason }
  try {
    const { adminToken } = secrets
    const { dataDir } = config
    const storefrontUrl = simulator?.storefrontUrl ?? null
    return { demo: await ensureDemo({ url: reachable(app.url), adminToken, dataDir, storefrontUrl, signal }) }
  } catch (error) {
    if (signal.aborted) return null
    return { demo: null, reason: `The demo could not be created: ${inOneLine((error as Error).message)}.` }
  }
}

function whyNoDemo({ upstreamUrl, roles }: Config): string | null {
  if (upstreamUrl !== 'sandbox')
    return `There is no demo, because PARLEY_UPSTREAM_URL names a real upstream: ${upstreamUrl}.`
  if (!roles.includes('api') || !roles.includes('worker')) {
    return `There is no demo, because it needs the roles api and worker, and PARLEY_ROLES is ${roles.join(',')}.`
  }
  return null
}

function describe(config: Config, service: Service, outcome: Outcome): string {
  const url = reachable(service.app.url)
  const { demo } = outcome
  const servesApi = config.roles.includes('api')
  const facts = {
    ...(servesApi ? { Console: `${config.publicUrl ?? url}/console/` } : {}),
    ...(demo ? { 'Sign in': `${reachable(demo.signInUrl)} (works once)` } : {}),
    ...(servesApi ? { Docs: `${config.publicUrl ?? url}/docs`, Gateway: gatewayAddress(config, service, url) } : {}),
    ...(demo ? { Organization: `${demo.organization.name} (${demo.organization.slug})`, 'API key': demo.apiKey } : {}),
    'Admin token': placeOfAdminToken(config),
  }
  const lines = Object.entries(facts).map(([name, value]) => `  ${name.padEnd(14)}${value}`)
  const parts = [
    demo ? 'The sandbox stands in for the upstream: no message leaves this machine.' : outcome.reason,
    lines.join('\n'),
    ...(outcome.demo ? examples(config, url, outcome.demo) : (outcome.next ?? [])),
    `Ctrl-C stops the service; its data stays in ${config.databaseUrl === undefined ? config.dataDir : 'the database'}.`,
  ]
  return `${parts.join('\n\n')}\n`
}

function gatewayAddress({ publicUrl }: Config, { app }: Service, url: string): string {
  return app.gatewayUrl === null ? `${publicUrl ?? url}/gateway` : reachable(app.gatewayUrl)
}

function examples(config: Config, url: string, { organization, apiKey }: Demo): string[] {
  const { name, number } = DEMO_CONTACT
  const text = JSON.stringify({ phone_number: `+${number}`, message_type: 'text', text: 'Hello from Parley' })
  const authorization = `-H 'Authorization: Bearer ${apiKey}'`
  return [
    `Send a text to ${name}:`,
    [
      `  curl -X POST '${url}/send-chat?tenantId=${organization.slug}' \\`,
      `    ${authorization} \\`,
      `    -H 'Content-Type: application/json' \\`,
      `    -d '${text}'`,
    ].join('\n'),
    `Let ${name} answer:`,
    `  ${ownCommand(config)} demo say 'Is it still there?'`,
    'Read the conversation:',
    [`  curl '${url}/conversations?chatNumber=${number}' \\`, `    ${authorization}`].join('\n'),
    "Find the messages about an order of the demo's storefront:",
    [`  curl '${url}/conversations?chatNumber=${number}&orderId=${DEMO_ORDER.id}' \\`, `    ${authorization}`].join(
      '\n',
    ),
  ]
}

/** The command that finds the same data in another shell of this folder. */
function ownCommand({ dataDir, fromEnvironment }: Config): string {
  const script = join(packageRoot(), 'bin', 'parley')
  const program = existsSync(script) ? relative('', script) : 'npx parley'
  return fromEnvironment.has('PARLEY_DATA_DIR') ? `PARLEY_DATA_DIR='${dataDir}' ${program}` : program
}

function placeOfAdminToken({ adminToken, dataDir }: Config): string {
  return adminToken === undefined
    ? `PARLEY_ADMIN_TOKEN in ${join(dataDir, 'secrets.json')}`
    : 'the environment variable PARLEY_ADMIN_TOKEN'
}
