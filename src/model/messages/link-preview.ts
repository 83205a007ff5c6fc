/**
 * Who fetches links without anybody having clicked: those who show previews of them in chats and feeds, and search engines. By
 * the names that they give themselves; a word such as "bot" alone is part of the names of some telephones.
 */
const AGENTS = [
  '^WhatsApp/',
  'facebookexternalhit',
  'facebookcatalog',
  'meta-externalagent',
  'meta-externalfetcher',
  'Facebot',
  'TelegramBot',
  'Twitterbot',
  'Slackbot',
  'Slack-ImgProxy',
  'Discordbot',
  'LinkedInBot',
  'Pinterestbot',
  'SkypeUriPreview',
  'redditbot',
  'Applebot',
  'Googlebot',
  'Google-PageRenderer',
  'bingbot',
  'BingPreview',
  'DuckDuckBot',
  'YandexBot',
  'Baiduspider',
  'PetalBot',
  'AhrefsBot',
  'SemrushBot',
]
const AGENT = new RegExp(AGENTS.join('|'), 'i')

/** Whether a User-Agent is that of a program that looks at links by itself. */
export function isLinkPreview(userAgent: string): boolean {
  return AGENT.test(userAgent)
}
