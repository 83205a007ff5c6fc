import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { BENCH, type Noise } from './noise.js'
import { findNoise } from './noises.js'
import type { Stage } from './stage.js'

// Makes noise in a process of its own, so that it delays the service and not the measuring client. `POST /start?name=`
// starts a kind of noise, `GET /remaining` counts what it has left to do, `POST /stop` ends it.

const { databaseUrl, ...addresses } = JSON.parse(process.env.BENCH_STAGE ?? '{}')
const stage: Stage = { ...addresses, database: new pg.Pool({ connectionString: databaseUrl, max: 4 }) }
let noise: Noise | null = null

async function handle({ method, url = '' }: IncomingMessage): Promise<object> {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  switch (`${method} ${pathname}`) {
    case 'POST /start':
      noise = await findNoise(searchParams.get('name') ?? '').start(stage, BENCH)
      return {}
    case 'GET /remaining':
      return { remaining: (await noise?.remaining()) ?? 0 }
    case 'POST /stop':
      await noise?.stop()
      noise = null
      return {}
    default:
      throw new Error(`there is no ${method} ${pathname}`)
  }
}

const server = createServer(async (request, response) => {
  try {
    const answer = await handle(request)
    response.end(JSON.stringify(answer))
  } catch (error) {
    response.writeHead(500).end(JSON.stringify({ error: (error as Error).stack }))
  }
}).listen(0, '127.0.0.1', () => {
  process.stdout.write(`noise ready on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))
