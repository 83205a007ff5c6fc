import type * as published from '@whatsapp-cloudapi/types/cloudapi'
import { describe, expectTypeOf, it } from 'vitest'
import type { OutboundMessage, OutboundType } from '../../src/upstream/wire.js'

// A second opinion on what is sent, from a package that others made. The types are compared by the compiler, not by the run.

type ToPhone = Extract<OutboundMessage, { to: string }>
type Message<Type extends OutboundType> = Extract<ToPhone, { type: Type }>
type Interactive<Type> = Extract<Message<'interactive'>['interactive'], { type: Type }>

describe('a message to a phone number is one of the published package', () => {
  it('text', () => {
    expectTypeOf<Message<'text'>>().toExtend<published.CloudAPISendTextMessageRequest>()
  })

  it('image: it knows no link, we neither', () => {
    expectTypeOf<Message<'image'>>().toExtend<published.CloudAPISendImageMessageRequest>()
  })

  it('sticker', () => {
    expectTypeOf<Message<'sticker'>>().toExtend<published.CloudAPISendStickerMessageRequest>()
  })

  it('video, audio and document: it lets both id and link be absent, we ask for the id', () => {
    expectTypeOf<Message<'video'>>().toExtend<published.CloudAPISendVideoMessageRequest>()
    expectTypeOf<Message<'audio'>>().toExtend<published.CloudAPISendAudioMessageRequest>()
    expectTypeOf<Message<'document'>>().toExtend<published.CloudAPISendDocumentMessageRequest>()
    expectTypeOf<published.CloudAPISendVideoMessageRequest['video']>().not.toExtend<Message<'video'>['video']>()
  })

  it('location', () => {
    expectTypeOf<Message<'location'>>().toExtend<published.CloudAPISendLocationMessageRequest>()
  })

  it('contacts, but for the type of a phone: it knows HOME and WORK, we pass on what is given', () => {
    type Published = published.CloudAPISendContactsMessageRequest
    type Card = Published['contacts'][number]
    type Phone = Omit<published.CloudAPIContactPhone, 'type'> & { type?: string }
    type Wider = Omit<Published, 'contacts'> & { contacts: (Omit<Card, 'phones'> & { phones?: Phone[] })[] }
    expectTypeOf<Message<'contacts'>>().toExtend<Wider>()
    expectTypeOf<Message<'contacts'>>().not.toExtend<Published>()
  })

  it('buttons: its header may be a GIF too', () => {
    type Published = published.CloudAPISendInteractiveButtonsMessageRequest['interactive']
    expectTypeOf<Interactive<'button'>>().toExtend<Published>()
    expectTypeOf<Published>().not.toExtend<Interactive<'button'>>()
  })

  it('list', () => {
    type Published = published.CloudAPISendInteractiveListMessageRequest['interactive']
    expectTypeOf<Interactive<'list'>>().toExtend<Published>()
  })

  it('interactive, around both', () => {
    type Published =
      | published.CloudAPISendInteractiveButtonsMessageRequest
      | published.CloudAPISendInteractiveListMessageRequest
    expectTypeOf<Message<'interactive'>['interactive']['type']>().toEqualTypeOf<'button' | 'list'>()
    expectTypeOf<Omit<Message<'interactive'>, 'interactive'>>().toExtend<Omit<Published, 'interactive'>>()
  })

  it('reaction: it knows no context there, and we send none', () => {
    expectTypeOf<Message<'reaction'>>().toExtend<published.CloudAPISendReactionMessageRequest>()
  })

  it('template, but for the button that copies a code, which it does not know', () => {
    type Ours = Message<'template'>['template']
    type Known = Exclude<Ours['components'][number], { sub_type: 'copy_code' }>
    type Published = published.CloudAPISendTemplateMessageRequest
    expectTypeOf<Omit<Ours, 'components'> & { components: Known[] }>().toExtend<Published['template']>()
    expectTypeOf<Omit<Message<'template'>, 'template'>>().toExtend<Omit<Published, 'template'>>()
  })

  it('everything else', () => {
    type Checked =
      | 'text'
      | 'image'
      | 'video'
      | 'audio'
      | 'document'
      | 'location'
      | 'contacts'
      | 'interactive'
      | 'reaction'
      | 'template'
      | 'sticker'
      | 'poll'
    expectTypeOf<OutboundType>().toEqualTypeOf<Checked>()
  })
})

it('a message by user id is not: the package wants a phone number', () => {
  type ByUserId = Exclude<OutboundMessage, { to: string }>
  expectTypeOf<Extract<ByUserId, { type: 'text' }>>().not.toExtend<published.CloudAPISendTextMessageRequest>()
  expectTypeOf<ByUserId['recipient']>().toEqualTypeOf<string>()
})
