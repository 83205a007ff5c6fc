import { parseArgs } from 'node:util'
import { NOISES } from './neighbours/noises.js'

/**
 * The values of `--only`. Without it, all run except `idle`, `scale`, `analytics`, `broadcast`, `webhooks`, `gateway`,
 * `console`, `full-number`, `neighbours`, `bodies`, `verify`, `disk` and `move`, which take minutes or need more than
 * Node.
 */
export const subjects = [
  'contact',
  'conversations',
  'send',
  'callbacks',
  'media',
  'footprint',
  'idle',
  'scale',
  'analytics',
  'broadcast',
  'webhooks',
  'gateway',
  'console',
  'full-number',
  'neighbours',
  'bodies',
  'verify',
  'disk',
  'move',
] as const
export type Subject = (typeof subjects)[number]

/** The values of `--profile`. */
export const profiles = ['contact', 'conversations', 'send', 'callbacks', 'gateway'] as const
export type ProfileName = (typeof profiles)[number]

/** The values of `--noise`. */
const NOISE_NAMES = NOISES.map(({ name }) => name)

/** Messages in the small database of `scale`. */
export const SMALL = 100_000

/** The options of the command line. */
export interface Options {
  /** Seconds to measure each load, after a warm-up of a quarter of that. */
  seconds: number
  only: Subject | null
  /** Messages in the large database of `scale`, and in that of `verify` and `move`. */
  messages: number
  /** Recipients of the broadcast. */
  recipients: number
  /** Events delivered to one webhook. */
  events: number
  /** Messages sent by `disk`. */
  sends: number
  /** The share of a full number's load, in percent. */
  share: number
  /** The only kind of noise to measure beside; null: all. */
  noise: string | null
  /** The file for the machine-readable copy. */
  json: string | null
  profile: ProfileName | null
  /** Where the filled databases of `scale`, `verify` and `move` are kept, to be used again; null: they are removed. */
  keep: string | null
  /** The PostgreSQL server to measure, as a URL of one of its databases; null: an embedded one. */
  database: string | null
}

/** Reads the command line. Throws an error with a message for the user. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '8' },
      only: { type: 'string' },
      messages: { type: 'string', default: '10000000' },
      recipients: { type: 'string', default: '100000' },
      events: { type: 'string', default: '20000' },
      sends: { type: 'string', default: '3000' },
      share: { type: 'string', default: '100' },
      noise: { type: 'string' },
      json: { type: 'string' },
      profile: { type: 'string' },
      keep: { type: 'string' },
      database: { type: 'string' },
    },
  })
  const seconds = Number(values.seconds)
  if (!(seconds >= 1 && seconds <= 3_600))
    throw new Error(`--seconds ${values.seconds}: expected a number from 1 to 3600`)
  const messages = Number(values.messages)
  if (!(messages >= SMALL && messages <= 100_000_000 && messages % SMALL === 0))
    throw new Error(`--messages ${values.messages}: expected a multiple of ${SMALL}, from ${SMALL} to 100000000`)
  const recipients = Number(values.recipients)
  if (!(Number.isInteger(recipients) && recipients >= 100 && recipients <= 10_000_000))
    throw new Error(`--recipients ${values.recipients}: expected a whole number from 100 to 10000000`)
  const events = Number(values.events)
  if (!(Number.isInteger(events) && events >= 100 && events <= 1_000_000))
    throw new Error(`--events ${values.events}: expected a whole number from 100 to 1000000`)
  const sends = Number(values.sends)
  if (!(Number.isInteger(sends) && sends >= 1_000 && sends <= 1_000_000))
    throw new Error(`--sends ${values.sends}: expected a whole number from 1000 to 1000000`)
  const share = Number(values.share)
  if (!(share >= 1 && share <= 1_000)) throw new Error(`--share ${values.share}: expected a number from 1 to 1000`)
  if (values.keep !== undefined && values.database !== undefined)
    throw new Error('--keep: the folder is for the embedded database; leave --database out')
  return {
    share,
    sends,
    keep: values.keep ?? null,
    recipients,
    events,
    seconds,
    messages,
    only: oneOf('--only', subjects, values.only),
    noise: oneOf('--noise', NOISE_NAMES, values.noise),
    json: values.json ?? null,
    profile: oneOf('--profile', profiles, values.profile),
    database: readDatabase(values.database),
  }
}

function readDatabase(given: string | undefined): string | null {
  if (given === undefined) return null
  if (!(URL.canParse(given) && /^postgres(ql)?:$/.test(new URL(given).protocol)))
    throw new Error('--database: expected a URL such as postgres://user:password@host:5432/postgres')
  return given
}

function oneOf<Name extends string>(option: string, names: readonly Name[], given: string | undefined): Name | null {
  if (given === undefined) return null
  const name = names.find((known) => known === given)
  if (name === undefined) throw new Error(`${option} ${given}: expected one of ${names.join(', ')}`)
  return name
}
