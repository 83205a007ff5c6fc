import { describe, expect, it } from 'vitest'
import { localTime, toInstant } from '../../../../../console/src/pages/broadcasts/compose/schedule/zoned.js'
import { toCampaign, withCampaign } from '../../../../../console/src/pages/broadcasts/compose/template/campaign-link.js'

describe('the link of a campaign', () => {
  it('is named after the broadcast', () => {
    expect(['Spring sale!', '  Promoção de Natal 2026 ', 'ação/B', '🎉'].map(toCampaign)).toEqual([
      'spring-sale',
      'promocao-de-natal-2026',
      'acao-b',
      '',
    ])
  })

  it('adds source and campaign, and keeps the other parameters', () => {
    expect(withCampaign(' https://shop.example/sale?size=m#top ', 'chat', 'spring-sale')).toBe(
      'https://shop.example/sale?size=m&utm_source=chat&utm_campaign=spring-sale#top',
    )
    expect(withCampaign('https://shop.example/?utm_campaign=old&utm_source=mail', 'chat', 'new')).toBe(
      'https://shop.example/?utm_campaign=new&utm_source=chat',
    )
    expect(withCampaign('shop.example', 'chat', 'new')).toBeNull()
    expect(withCampaign('javascript:alert(1)', 'chat', 'new')).toBeNull()
  })
})

describe('a local time in a time zone', () => {
  it('converts both ways, also around a clock change', () => {
    expect(toInstant('2026-11-27 09:00:00', 'America/Sao_Paulo').toISOString()).toBe('2026-11-27T12:00:00.000Z')
    expect(toInstant('2026-03-29 03:30:00', 'Europe/Berlin').toISOString()).toBe('2026-03-29T01:30:00.000Z')
    expect(toInstant('2026-03-29 01:30:00', 'Europe/Berlin').toISOString()).toBe('2026-03-29T00:30:00.000Z')
    expect(localTime(new Date('2026-10-25T01:30:00Z'), 'Europe/Berlin')).toBe('2026-10-25 02:30:00')
  })
})
