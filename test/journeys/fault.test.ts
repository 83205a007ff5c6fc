import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { png } from '../support/media.js'
import { patience } from '../support/patience.js'
import { prepareFaults } from './support/faults.js'
import type { Program } from './support/programs.js'
import { createOrganization, startService } from './support/service.js'

const env = prepareFaults()

describe('a fault that nothing catches', () => {
  it('lets serve finish running requests, log the reason in one line, and end', async () => {
    const asked: ServerResponse[] = []
    const files = createServer((_request, response) => void asked.push(response)).listen(0, '127.0.0.1')
    await once(files, 'listening')
    onTestFinished(() => void files.close())
    const service = await startService(env())
    const { key } = await createOrganization(service)
    await service.request('POST', '/contact', { key, body: { phone_number: '+5511970300001', name: 'Ana' } })
    const media_url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/`
    const body = { phone_number: '+5511970300001', message_type: 'image', media_url }
    const sent = service.request('POST', '/send-chat', { key, body })
    await vi.waitFor(() => expect(asked).toHaveLength(1), patience)
    service.program.kill('SIGUSR2')
    await vi.waitFor(() => expect(complaints(service.program)).toHaveLength(1), patience)
    asked[0]?.end(png())
    expect(await sent).toMatchObject({ status: 200 })
    expect(await service.program.exited).toEqual({ code: 1, signal: null })
    const reason = /^parley: stopped by an uncaught error: Error: a fault on purpose at .+$/
    expect(complaints(service.program)).toEqual([expect.stringMatching(reason)])
  })
})

/** What it said on standard error, the log aside. */
function complaints({ errors }: Program): string[] {
  return errors.filter((line) => line.startsWith('parley: '))
}
