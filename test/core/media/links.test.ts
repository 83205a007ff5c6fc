import { describe, expect, it } from 'vitest'
import { createMediaLinks } from '../../../src/core/media/links.js'

const organization = '0190b7c4-0000-7000-8000-000000000001'
const other = '0190b7c4-0000-7000-8000-000000000002'
const media = '0190b7c4-0000-7000-8000-000000000003'
const expiresAt = new Date('2027-03-01T12:00:00.900Z')
const expires = String(Date.parse('2027-03-01T12:00:00Z') / 1000)
const before = new Date('2027-03-01T11:59:59.999Z')
const after = new Date('2027-03-01T12:00:00.000Z')

const linksOf = (...masterKeys: string[]) => createMediaLinks(masterKeys, () => 'https://chat.example.com/parley')
const links = linksOf('master')
const signatureOf = (url: string) => new URL(url).searchParams.get('signature') ?? ''
const signature = signatureOf(links.urlOf(organization, media, expiresAt))

describe('a media link', () => {
  it('is below the public URL and contains its expiry in seconds', () => {
    expect(links.urlOf(organization, media, expiresAt)).toBe(
      `https://chat.example.com/parley/media/${organization}/${media}?expires=${expires}&signature=${signature}`,
    )
    expect(signature).toMatch(/^[\w-]{43}$/)
  })

  it('is the same each time, whichever process creates it', () => {
    expect(links.urlOf(organization, media, expiresAt)).toBe(linksOf('master').urlOf(organization, media, expiresAt))
  })

  it('follows the public URL', () => {
    let base = 'http://127.0.0.1:1'
    const moving = createMediaLinks(['master'], () => base)
    expect(moving.urlOf(organization, media, expiresAt)).toMatch(/^http:\/\/127\.0\.0\.1:1\/media\//)
    base = 'http://127.0.0.1:2'
    expect(moving.urlOf(organization, media, expiresAt)).toMatch(/^http:\/\/127\.0\.0\.1:2\/media\//)
  })

  it('is valid until it expires', () => {
    expect(links.check(organization, media, { expires, signature }, before)).toBe('valid')
    expect(links.check(organization, media, { expires, signature }, after)).toBe('expired')
  })

  it.each([
    ['another organization', other, media, expires, signature],
    ['another file', organization, other, expires, signature],
    ['a later end', organization, media, String(Number(expires) + 1), signature],
    ['the same end written otherwise', organization, media, `0${expires}`, signature],
    ['no end', organization, media, '', signature],
    ['no signature', organization, media, expires, ''],
    ['a cut signature', organization, media, expires, signature.slice(0, -1)],
    ['a padded signature', organization, media, expires, `${signature}=`],
    ['parts that are moved over', organization, `${media}/${expires}`, '', signature],
    ['capitals', organization.toUpperCase(), media.toUpperCase(), expires, signature.toUpperCase()],
  ])('is invalid with %s', (_what, ...[organizationId, mediaId, end, signed]) => {
    expect(links.check(organizationId, mediaId, { expires: end, signature: signed }, before)).toBe('invalid')
    expect(links.check(organizationId, mediaId, { expires: end, signature: signed }, after)).toBe('invalid')
  })
})

describe('changing the master key', () => {
  it('signs with the new one and still accepts the old one', () => {
    const both = linksOf('new', 'master')
    const renewed = signatureOf(both.urlOf(organization, media, expiresAt))
    expect(renewed).toBe(signatureOf(linksOf('new').urlOf(organization, media, expiresAt)))
    expect(renewed).not.toBe(signature)
    expect(both.check(organization, media, { expires, signature }, before)).toBe('valid')
    expect(both.check(organization, media, { expires, signature: renewed }, before)).toBe('valid')
  })

  it('rejects links signed with a removed key', () => {
    expect(linksOf('new').check(organization, media, { expires, signature }, before)).toBe('invalid')
  })

  it('requires a key', () => {
    expect(() => linksOf()).toThrow('at least one master key')
  })
})
