import { expect, it } from 'vitest'
import type { Context } from '../../../../src/context.js'
import { CALLBACK_FIELDS } from '../../../../src/core/callbacks/fields.js'
import { FURTHER_FIELDS, judgeAddresses } from '../../../../src/core/organizations/connecting/addresses.js'
import { directCallbacks } from '../../../../src/core/organizations/connecting/direct-callbacks.js'

const ours = { url: 'https://parley.example/hooks/upstream', verifyToken: 'token', isAtSimulator: false }

type SetAddress = Context['upstream']['connecting']['setAppAddress']

/** Connects an app that has no address yet; resolves to the fields of each attempt, and what was found. */
async function direct(answer: (fields: string[]) => Awaited<ReturnType<SetAddress>>) {
  const attempts: string[][] = []
  const setAppAddress: SetAddress = async ({ fields }) => {
    attempts.push(fields)
    return answer(fields)
  }
  const upstream = { connecting: { setAppAddress } } as unknown as Context['upstream']
  const reading = {
    address: { outcome: 'done' as const, address: { url: null, fields: [] } },
    apps: { outcome: 'done' as const, apps: [{ id: '1', name: null, override: null }] },
    numberOverride: null,
  }
  const ids = { phoneNumberId: '3', accessToken: 'EAA', businessAccountId: '2', appSecret: 'secret', appId: '1' }
  const { findings } = await directCallbacks({ upstream, callMs: () => 1_000 }, reading, {
    credentials: ids,
    ours,
    way: undefined,
  })
  return { attempts, reasons: findings.map(({ reason }) => reason) }
}

const refusal = (code: number) => ({
  outcome: 'refused' as const,
  code,
  subcode: 0,
  text: 'Param fields[2] must be one of {…}',
  isTokenAtFault: false,
})

it('subscribes to the needed fields alone if the upstream does not know all the others', async () => {
  const { attempts, reasons } = await direct((fields) => (fields.length > 2 ? refusal(100) : { outcome: 'done' }))
  expect(attempts).toEqual([
    expect.arrayContaining(['messages', 'message_template_status_update', 'user_preferences']),
    ['messages', 'message_template_status_update'],
  ])
  expect(reasons).toEqual(['callbacks_set', 'subscribed_right'])
})

it('subscribes to all fields that are read, except those that the upstream does not list', () => {
  const subscribed = ['messages', 'message_template_status_update', ...FURTHER_FIELDS]
  expect(CALLBACK_FIELDS).toEqual(expect.arrayContaining(subscribed))
  expect(CALLBACK_FIELDS.filter((field) => !subscribed.includes(field))).toEqual([
    ...['user_id_update', 'standby', 'messaging_handovers', 'group_participant_update', 'business_username_updates'],
  ])
})

it('does not try again after another refusal', async () => {
  const { attempts, reasons } = await direct(() => refusal(2200))
  expect([attempts.length, reasons]).toEqual([1, ['callbacks_unverified', 'subscribed_right']])
})

it('does not take an override that could not be read for none', () => {
  const reading = {
    address: { outcome: 'done' as const, address: { url: ours.url, fields: ['messages'] } },
    apps: { outcome: 'done' as const, apps: [{ id: '1', name: null, override: null }] },
  }
  const judge = (numberOverride: string | null | undefined) =>
    judgeAddresses({ ...reading, numberOverride }, { appId: '1', businessAccountId: '2' }, ours, null)[1]?.reason
  expect([judge(null), judge(undefined), judge('https://other.example')]).toEqual([
    'subscribed_right',
    'override_unread',
    'override_foreign',
  ])
})
