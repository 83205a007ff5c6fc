import { describe, expect, it } from 'vitest'
import { KeysNotRead, KeysNotWritten } from '../../../../src/channels/linked-device/keys/key-store.js'
import { openSessionKeys } from '../../../../src/channels/linked-device/keys/session-keys.js'
import { createMemoryStore, createScriptedLibrary } from '../scripted-library.js'

const ACCOUNT = JSON.stringify({ me: { id: '1@s.whatsapp.net' }, account: {}, nextPreKeyId: 1 })

async function open(credentials: string | null) {
  const memory = createMemoryStore(credentials)
  const failures: unknown[] = []
  const keys = await openSessionKeys(createScriptedLibrary().library, memory.store, (error) => failures.push(error))
  return { ...memory, ...keys, failures }
}

describe('the keys of a session', () => {
  it('are written in one transaction with the credentials that change at the same moment', async () => {
    const { state, credentialsChanged, writes } = await open(ACCOUNT)
    Object.assign(state.creds, { nextPreKeyId: 3 })
    credentialsChanged()
    await Promise.all([
      state.keys.set({ 'pre-key': { 1: { private: 'a' }, 2: { private: 'b' } } }),
      state.keys.set({ session: { '2.0': 'chain' } }),
    ])
    expect(writes).toHaveLength(1)
    expect(JSON.parse(writes[0]?.credentials ?? '')).toMatchObject({ nextPreKeyId: 3 })
    expect(writes[0]?.keys.map(({ type, id }) => `${type} ${id}`)).toEqual(['pre-key 1', 'pre-key 2', 'session 2.0'])
  })

  it('can be read before their write is complete', async () => {
    const { state, keys: stored } = await open(ACCOUNT)
    stored.set('session/old', '"kept"')
    stored.set('session/gone', '"removed"')
    const written = state.keys.set({ session: { new: 'fresh', gone: null } })
    expect(await state.keys.get('session', ['new', 'old', 'gone'])).toEqual({ new: 'fresh', old: 'kept' })
    await written
    expect([...stored.keys()]).toEqual(['session/old', 'session/new'])
  })

  it('are read once, so that the library does not wait for them again', async () => {
    const { state, keys: stored, store } = await open(ACCOUNT)
    stored.set('session/old', '"kept"')
    const asked: string[] = []
    const { readKeys } = store
    store.readKeys = (type, ids) => {
      asked.push(...ids)
      return readKeys(type, ids)
    }
    for (let time = 0; time < 3; time++) {
      expect(await state.keys.get('session', ['old', 'none'])).toEqual({ old: 'kept' })
    }
    await state.keys.set({ session: { old: 'newer', none: 'there' } })
    expect(await state.keys.get('session', ['old', 'none'])).toEqual({ old: 'newer', none: 'there' })
    await state.keys.set({ session: { old: null } })
    expect(await state.keys.get('session', ['old'])).toEqual({})
    expect(asked).toEqual(['old', 'none'])
  })

  it('return the last written state, even if an older one was being read', async () => {
    const { state, store } = await open(ACCOUNT)
    let answer: (stored: Map<string, string>) => void = () => undefined
    store.readKeys = () =>
      new Promise((resolve) => {
        answer = resolve
      })
    const reading = state.keys.get('session', ['a'])
    await state.keys.set({ session: { a: 'new' } })
    answer(new Map([['a', '"old"']]))
    await reading
    expect(await state.keys.get('session', ['a'])).toEqual({ a: 'new' })
  })

  it('are returned in the form that the library needs', async () => {
    const { state } = await open(ACCOUNT)
    await state.keys.set({ 'app-state-sync-key': { k: { keyData: 'x' } } })
    expect(await state.keys.get('app-state-sync-key', ['k'])).toEqual({ k: { appStateKey: { keyData: 'x' } } })
  })

  it('are no longer used once they cannot be written', async () => {
    const { state, state: authentication, failures, store } = await open(ACCOUNT)
    store.write = async () => {
      throw new Error('the disk is full')
    }
    await expect(state.keys.set({ session: { a: '1' } })).rejects.toThrow(KeysNotWritten)
    expect(failures).toEqual([new Error('the disk is full')])
    await expect(authentication.keys.set({ session: { b: '2' } })).rejects.toThrow(KeysNotWritten)
    expect(failures).toHaveLength(1)
  })

  it('of an ended connection do not overwrite those of the next one', async () => {
    const { state, close, credentialsChanged, writes } = await open(ACCOUNT)
    const last = state.keys.set({ session: { a: '1' } })
    await close()
    await last
    credentialsChanged()
    await expect(state.keys.set({ session: { a: 'stale' } })).rejects.toThrow(KeysNotWritten)
    expect(writes).toHaveLength(1)
  })

  it('are not treated as missing if they could not be read', async () => {
    const { state, store } = await open(ACCOUNT)
    store.readKeys = async () => {
      throw new Error('the database is away')
    }
    await expect(state.keys.get('session', ['a'])).rejects.toThrow(KeysNotRead)
  })
})
