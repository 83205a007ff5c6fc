import type * as published from '@whatsapp-cloudapi/types/cloudapi'
import { describe, expectTypeOf, it } from 'vitest'
import type { OutboundMessage, OutboundType } from '../../src/upstream/wire.js'

// A check of the sent types against a package by other authors. The compiler compares the types, not the run.

type ToPhone = Extract<OutboundMessage, { to: string }>
type Message<Type extends OutboundType> = Extract<ToPhone, { type: Type }>
type Interactive<Type> = Extract<Message<'interactive'>['interactive'], { type: Type }>

describe('a message to a phone number has the type of the published package', () => {
  it('for text', () => {
    expectTypeOf<Message<'text'>>().toExtend<published.CloudAPISendTextMessageRequest>()
  })

  it('for images, which may not have a link in either', () => {
    expectTypeOf<Message<'image'>>().toExtend<published.CloudAPISendImageMessageRequest>()
  })

  it('for stickers', () => {
    expectTypeOf<Message<'sticker'>>().toExtend<published.CloudAPISendStickerMessageRequest>()
  })

  it('for video, audio and documents, which require an id here and not in the package', () => {
    expectTypeOf<Message<'video'>>().toExtend<published.CloudAPISendVideoMessageRequest>()
    expectTypeOf<Message<'audio'>>().toExtend<published.CloudAPISendAudioMessageRequest>()
    expectTypeOf<Message<'document'>>().toExtend<published.CloudAPISendDocumentMessageRequest>()
    expectTypeOf<published.CloudAPISendVideoMessageRequest['video']>().not.toExtend<Message<'video'>['video']>()
  })

  it('for locations', () => {
    expectTypeOf<Message<'location'>>().toExtend<published.CloudAPISendLocationMessageRequest>()
  })

  it('for contacts, except the type of a phone, which is any text here and HOME or WORK there', () => {
    type Published = published.CloudAPISendContactsMessageRequest
    type Card = Published['contacts'][number]
    type Phone = Omit<published.CloudAPIContactPhone, 'type'> & { type?: string }
    type Wider = Omit<Published, 'contacts'> & { contacts: (Omit<Card, 'phones'> & { phones?: Phone[] })[] }
    expectTypeOf<Message<'contacts'>>().toExtend<Wider>()
    expectTypeOf<Message<'contacts'>>().not.toExtend<Published>()
  })

  it('for buttons, which may have a GIF as header too', () => {
    type Published = published.CloudAPISendInteractiveButtonsMessageRequest['interactive']
    expectTypeOf<Interactive<'button'>>().toExtend<Published>()
    expectTypeOf<Published>().not.toExtend<Interactive<'button'>>()
  })

  it('for lists', () => {
    type Published = published.CloudAPISendInteractiveListMessageRequest['interactive']
    expectTypeOf<Interactive<'list'>>().toExtend<Published>()
  })

  it('for interactive messages of all kinds', () => {
    type Published =
      | published.CloudAPISendInteractiveButtonsMessageRequest
      | published.CloudAPISendInteractiveListMessageRequest
    type Kinds =
      | 'button'
      | 'list'
      | 'cta_url'
      | 'flow'
      | 'location_request_message'
      | 'request_contact_info'
      | 'address_message'
      | 'product'
      | 'product_list'
      | 'catalog_message'
      | 'carousel'
    expectTypeOf<Message<'interactive'>['interactive']['type']>().toEqualTypeOf<Kinds>()
    expectTypeOf<Omit<Message<'interactive'>, 'interactive'>>().toExtend<Omit<Published, 'interactive'>>()
  })

  it('for reactions, which have no context in either', () => {
    expectTypeOf<Message<'reaction'>>().toExtend<published.CloudAPISendReactionMessageRequest>()
  })

  it('for templates, except products, offers, carousels and newer buttons, which the package lacks', () => {
    type Ours = Message<'template'>['template']
    type Newer =
      | { sub_type: 'copy_code' | 'flow' | 'catalog' | 'mpm' }
      | { type: 'header' | 'carousel' | 'limited_time_offer' }
    type Known = Exclude<Ours['components'][number], Newer>
    type Published = published.CloudAPISendTemplateMessageRequest
    expectTypeOf<Omit<Ours, 'components'> & { components: Known[] }>().toExtend<Published['template']>()
    expectTypeOf<Omit<Message<'template'>, 'template'>>().toExtend<Omit<Published, 'template'>>()
  })

  it('for all other fields', () => {
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

it('a message by user id has no such type: the package requires a phone number', () => {
  type ByUserId = Exclude<OutboundMessage, { to: string }>
  expectTypeOf<Extract<ByUserId, { type: 'text' }>>().not.toExtend<published.CloudAPISendTextMessageRequest>()
  expectTypeOf<ByUserId['recipient']>().toEqualTypeOf<string>()
})
