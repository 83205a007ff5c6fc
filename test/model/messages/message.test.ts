import { expect, it } from 'vitest'
import { presentMessage, type ShownMessage } from '../../../src/model/messages/message.js'

const VOICE_NOTE: ShownMessage = {
  organization_id: 'organization',
  id: 'id',
  contact_id: 'contact',
  seq: 1,
  upstream_id: 'wamid',
  sender_type: 'user-chat',
  message_type: 'audio',
  text: '',
  media_type: 'audio',
  media_id: 'media',
  media_expires_at: '2026-06-15T15:06:40.000Z',
  transcription: 'I arrive tomorrow',
  content: { voice: true },
  instance_id: null,
  network: null,
  status: 'delivered',
  outcome: null,
  error: null,
  context_upstream_id: null,
  assignee_id: null,
  created_at: '2025-06-15T15:06:40.000Z',
  accepted_at: null,
}

it('a message shows its file and transcription, until it is deleted', () => {
  const shown = (extras: object | null) => presentMessage({ ...VOICE_NOTE, extras }, (_, id) => `/media/${id}`)
  expect(shown(null)).toMatchObject({ media_url: '/media/media', voice_note_transcription: 'I arrive tomorrow' })
  const deleted_at = '2025-06-15T15:06:50.000Z'
  expect(shown({ deleted_at })).toMatchObject({
    media_type: 'audio',
    media_url: null,
    voice_note_transcription: null,
    content: { type: 'audio', voice: true, deleted_at },
  })
})
