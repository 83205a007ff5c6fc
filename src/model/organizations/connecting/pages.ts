/** The upstream's pages on which something is done, or described. */

export const APPS = 'https://developers.facebook.com/apps'
export const SETTINGS = 'https://business.facebook.com/latest/settings'
export const MANAGER = 'https://business.facebook.com/latest/whatsapp_manager/'
export const SUPPORT = 'https://business.facebook.com/business-support-home'
const NUMBERS = 'https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers'
export const REGISTRATION = `${NUMBERS}/registration`
export const OVERRIDES = 'https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/override'
export const ERRORS = 'https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes'
export const TEMPLATES =
  'https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/send-messages'
export const PHONES =
  'https://developers.facebook.com/documentation/business-messaging/whatsapp/embedded-signup/onboarding-business-app-users'
