import { describe, expect, it } from 'vitest'
import { createLogger, type Logger } from '../src/log.js'

/** The lines logged at level info. */
function linesOf(write: (log: Logger) => void): Record<string, unknown>[] {
  const lines: string[] = []
  write(createLogger('info', { write: (line) => lines.push(line) }))
  return lines.map((line) => JSON.parse(line))
}

describe('createLogger', () => {
  it('writes one JSON object per line, from its level upwards', () => {
    const lines = linesOf((log) => {
      log.debug('not this')
      log.info({ port: 8080 }, 'started')
    })
    expect(lines).toEqual([{ level: 30, time: expect.stringMatching(/^\d{4}-.*Z$/), port: 8080, msg: 'started' }])
  })

  it('masks fields named like a secret, including the headers of a request', () => {
    const [line] = linesOf((log) =>
      log.info({
        password: 'hunter2',
        credentials: { access_token: 'hunter2', app_secret: 'hunter2', phone_number_id: '1' },
        body: { accessToken: 'hunter2', appSecret: 'hunter2', verifyToken: 'hunter2', instanceName: 'shop' },
        req: { url: '/contact', headers: { authorization: 'Bearer hunter2', apikey: 'hunter2', accept: '*/*' } },
      }),
    )
    expect(line).toMatchObject({
      password: '***',
      credentials: { access_token: '***', app_secret: '***', phone_number_id: '1' },
      body: { accessToken: '***', appSecret: '***', verifyToken: '***', instanceName: 'shop' },
      req: { url: '/contact', headers: { authorization: '***', apikey: '***', accept: '*/*' } },
    })
    expect(JSON.stringify(line)).not.toContain('hunter2')
  })

  it('writes entries whose error is told elsewhere only for debugging', () => {
    const told = new Error('told elsewhere')
    const write = (level: 'info' | 'debug') => {
      const lines: string[] = []
      const log = createLogger(level, { write: (line) => lines.push(line) }, (error) => error === told)
      log.child({ requestId: '1' }).warn({ err: told }, 'a request failed')
      log.error({ err: new Error('another') }, 'a job failed')
      return lines.map((line) => JSON.parse(line)).map(({ level, msg }) => ({ level, msg }))
    }
    expect(write('info')).toEqual([{ level: 50, msg: 'a job failed' }])
    expect(write('debug')).toEqual([
      { level: 20, msg: 'a request failed' },
      { level: 50, msg: 'a job failed' },
    ])
  })

  it('leaves out row data from errors of PostgreSQL', () => {
    const details = { code: '23505', detail: 'Key (email)=(ana@example.com) already exists.', where: 'row of ana' }
    const [line] = linesOf((log) => log.error({ err: Object.assign(new Error('duplicate key'), details) }, 'failed'))
    expect(line).toMatchObject({ msg: 'failed', err: { message: 'duplicate key', code: '23505' } })
    expect(line).toMatchObject({ err: { stack: expect.stringContaining('duplicate key') } })
    expect(JSON.stringify(line)).not.toContain('ana')
  })
})
