/**
 * Programs that fetch links without a click: link previews of chats and feeds, and search engines, by their User-Agent.
 * The word "bot" alone is not listed, because it occurs in the names of some phones.
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

/** Whether the User-Agent is that of a program that fetches links on its own. */
export function isLinkPreview(userAgent: string): boolean {
  return AGENT.test(userAgent)
}
