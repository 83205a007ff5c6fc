// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "message.sendText": [
    {
      "name": "example",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444", "text": "Hello"},
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE1"},
        "pushName": "",
        "status": 201,
        "message": {"conversation": "Hello"},
        "contextInfo": null,
        "messageType": "conversation",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000001",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE1"},
          "pushName": "",
          "status": "PENDING",
          "message": {"conversation": "Hello"},
          "contextInfo": null,
          "messageType": "conversation",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444"},
      "status": 400,
      "answer": {"status": 400, "error": "Bad Request", "response": {"message": [["text is required and must not be empty"]]}}
    }
  ],
  "message.sendLocation": [
    {
      "name": "example",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444", "latitude": -23.55, "longitude": -46.63, "name": "Shop"},
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE2"},
        "pushName": "",
        "status": 201,
        "message": {"locationMessage": {"degreesLatitude": -23.55, "degreesLongitude": -46.63, "name": "Shop"}},
        "contextInfo": null,
        "messageType": "locationMessage",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000001",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE2"},
          "pushName": "",
          "status": "PENDING",
          "message": {"locationMessage": {"degreesLatitude": -23.55, "degreesLongitude": -46.63, "name": "Shop"}},
          "contextInfo": null,
          "messageType": "locationMessage",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444", "latitude": 91, "longitude": 0},
      "status": 400,
      "answer": {"status": 400, "error": "Bad Request", "response": {"message": [["latitude must be <= 90"]]}}
    }
  ],
  "message.sendContact": [
    {
      "name": "example",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444", "contact": [{"fullName": "Bruno Lima", "phoneNumber": "+55 11 91234-5678"}]},
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE3"},
        "pushName": "",
        "status": 201,
        "message": {
          "contactMessage": {
            "displayName": "Bruno Lima",
            "vcard": "BEGIN:VCARD\r\nVERSION:3.0\r\nN:;Bruno Lima;;;\r\nFN:Bruno Lima\r\nTEL;type=CELL;waid=5511912345678:+55 11 91234-5678\r\nEND:VCARD"
          }
        },
        "contextInfo": null,
        "messageType": "contactMessage",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000001",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE3"},
          "pushName": "",
          "status": "PENDING",
          "message": {
            "contactMessage": {
              "displayName": "Bruno Lima",
              "vcard": "BEGIN:VCARD\r\nVERSION:3.0\r\nN:;Bruno Lima;;;\r\nFN:Bruno Lima\r\nTEL;type=CELL;waid=5511912345678:+55 11 91234-5678\r\nEND:VCARD"
            }
          },
          "contextInfo": null,
          "messageType": "contactMessage",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444", "contact": []},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {"message": [["contact is required and must not be empty"]]}
      }
    }
  ],
  "message.sendTemplate": [
    {
      "name": "example",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444", "name": "hello_world", "language": "en_US"},
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE4"},
        "pushName": "",
        "status": 201,
        "message": {"conversation": "hello_world"},
        "contextInfo": null,
        "messageType": "conversation",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000001",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE4"},
          "pushName": "",
          "status": "PENDING",
          "message": {"conversation": "hello_world"},
          "contextInfo": null,
          "messageType": "conversation",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444", "name": "summer_sale", "language": "en_US"},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {
          "message": ["template name (summer_sale) does not exist in en_US"],
          "upstream_code": 132001,
          "id": "01a20000-0000-7000-8000-000000000004"
        }
      }
    }
  ],
  "message.sendList": [
    {
      "name": "example",
      "path": {"instance": "shop"},
      "body": {
        "number": "5511955554444",
        "title": "Menu",
        "description": "Choose",
        "buttonText": "Open",
        "sections": [{"title": "Food", "rows": [{"title": "Rice", "rowId": "rice", "description": "White"}]}]
      },
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE5"},
        "pushName": "",
        "status": 201,
        "message": {
          "listMessage": {
            "title": "Menu",
            "description": "Choose",
            "buttonText": "Open",
            "footerText": "",
            "listType": 1,
            "sections": [{"title": "Food", "rows": [{"rowId": "rice", "title": "Rice", "description": "White"}]}]
          }
        },
        "contextInfo": null,
        "messageType": "listMessage",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000001",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE5"},
          "pushName": "",
          "status": "PENDING",
          "message": {
            "listMessage": {
              "title": "Menu",
              "description": "Choose",
              "buttonText": "Open",
              "footerText": "",
              "listType": 1,
              "sections": [{"title": "Food", "rows": [{"rowId": "rice", "title": "Rice", "description": "White"}]}]
            }
          },
          "contextInfo": null,
          "messageType": "listMessage",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444", "title": "Menu", "description": "Choose", "buttonText": "Open", "sections": []},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {"message": [["sections is required and must not be empty"]]}
      }
    }
  ],
  "message.sendButtons": [
    {
      "name": "example",
      "path": {"instance": "shop"},
      "body": {
        "number": "5511955554444",
        "title": "Go on?",
        "buttons": [{"type": "reply", "displayText": "Yes", "id": "yes"}]
      },
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE6"},
        "pushName": "",
        "status": 201,
        "message": {
          "buttonsMessage": {
            "contentText": "Go on?",
            "footerText": "",
            "buttons": [{"buttonId": "yes", "buttonText": {"displayText": "Yes"}, "type": 1}]
          }
        },
        "contextInfo": null,
        "messageType": "buttonsMessage",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000001",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE6"},
          "pushName": "",
          "status": "PENDING",
          "message": {
            "buttonsMessage": {
              "contentText": "Go on?",
              "footerText": "",
              "buttons": [{"buttonId": "yes", "buttonText": {"displayText": "Yes"}, "type": 1}]
            }
          },
          "contextInfo": null,
          "messageType": "buttonsMessage",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444", "title": "Go on?", "buttons": []},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {"message": [["buttons is required and must not be empty"]]}
      }
    }
  ],
  "message.sendPoll": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "name": "Lunch?", "selectableCount": 1, "values": ["Yes", "No"]},
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE7"},
        "pushName": "",
        "status": 201,
        "message": {
          "pollCreationMessageV3": {"name": "Lunch?", "options": [{"optionName": "Yes"}, {"optionName": "No"}], "selectableOptionsCount": 1}
        },
        "contextInfo": null,
        "messageType": "pollCreationMessageV3",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000002",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE7"},
          "pushName": "",
          "status": "PENDING",
          "message": {
            "pollCreationMessageV3": {"name": "Lunch?", "options": [{"optionName": "Yes"}, {"optionName": "No"}], "selectableOptionsCount": 1}
          },
          "contextInfo": null,
          "messageType": "pollCreationMessageV3",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000002",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "name": "Lunch?", "selectableCount": 1, "values": ["Yes"]},
      "status": 400,
      "answer": {"status": 400, "error": "Bad Request", "response": {"message": [["values must have at least 2 items"]]}}
    }
  ],
  "message.sendReaction": [
    {
      "name": "example",
      "path": {"instance": "shop"},
      "body": {
        "key": {"id": "wamid.EXAMPLE8", "fromMe": false, "remoteJid": "5511955554444@s.whatsapp.net"},
        "reaction": "👍"
      },
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE9"},
        "pushName": "",
        "status": 201,
        "message": {
          "reactionMessage": {
            "key": {"id": "wamid.EXAMPLE8", "remoteJid": "5511955554444@s.whatsapp.net", "fromMe": false},
            "text": "👍",
            "senderTimestampMs": 1772442000000
          }
        },
        "contextInfo": null,
        "messageType": "reactionMessage",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000001",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE9"},
          "pushName": "",
          "status": "PENDING",
          "message": {
            "reactionMessage": {
              "key": {"id": "wamid.EXAMPLE8", "remoteJid": "5511955554444@s.whatsapp.net", "fromMe": false},
              "text": "👍",
              "senderTimestampMs": 1772442000000
            }
          },
          "contextInfo": null,
          "messageType": "reactionMessage",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "source": "web"
        }
      }
    },
    {
      "name": "not_found",
      "path": {"instance": "shop"},
      "body": {"key": {"id": "unknown", "fromMe": false, "remoteJid": "5511955554444@s.whatsapp.net"}, "reaction": "👍"},
      "status": 404,
      "answer": {
        "status": 404,
        "error": "Not Found",
        "response": {
          "message": ["key.id \"unknown\" is not a message that WhatsApp has accepted in the conversation with 5511955554444"]
        }
      }
    }
  ],
  "message.sendMedia": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {
        "number": "5511955554444",
        "mediatype": "image",
        "media": "https://shop.example/files/jpeg/shop.jpg",
        "caption": "Our shop"
      },
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE10"},
        "pushName": "",
        "status": 201,
        "message": {
          "imageMessage": {
            "url": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000006?expires=1772445600&signature=EXAMPLE",
            "mimetype": "image/jpeg",
            "fileLength": "141",
            "caption": "Our shop"
          },
          "mediaUrl": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000006?expires=1772445600&signature=EXAMPLE"
        },
        "contextInfo": null,
        "messageType": "imageMessage",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000002",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE10"},
          "pushName": "",
          "status": "PENDING",
          "message": {
            "imageMessage": {
              "url": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000006?expires=1772445600&signature=EXAMPLE",
              "mimetype": "image/jpeg",
              "fileLength": "141",
              "caption": "Our shop"
            },
            "mediaUrl": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000006?expires=1772445600&signature=EXAMPLE"
          },
          "contextInfo": null,
          "messageType": "imageMessage",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000002",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "mediatype": "image", "media": "https://shop.example/files/pdf/offer.pdf"},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {
          "message": ["media cannot be used: its content is application/pdf, and image messages take JPEG or PNG"],
          "reason": "wrong_type"
        }
      }
    }
  ],
  "message.sendWhatsAppAudio": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "audio": "https://shop.example/files/ogg/hello.ogg"},
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE11"},
        "pushName": "",
        "status": 201,
        "message": {
          "audioMessage": {
            "url": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000007?expires=1772445600&signature=EXAMPLE",
            "mimetype": "audio/ogg",
            "fileLength": "122",
            "ptt": true
          },
          "mediaUrl": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000007?expires=1772445600&signature=EXAMPLE"
        },
        "contextInfo": null,
        "messageType": "audioMessage",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000002",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE11"},
          "pushName": "",
          "status": "PENDING",
          "message": {
            "audioMessage": {
              "url": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000007?expires=1772445600&signature=EXAMPLE",
              "mimetype": "audio/ogg",
              "fileLength": "122",
              "ptt": true
            },
            "mediaUrl": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000007?expires=1772445600&signature=EXAMPLE"
          },
          "contextInfo": null,
          "messageType": "audioMessage",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000002",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "audio": "https://shop.example/files/pdf/offer.pdf"},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {
          "message": ["audio cannot be used: it could not be converted: the file: Invalid data found when processing input"],
          "reason": "not_convertible"
        }
      }
    }
  ],
  "message.sendAudio": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "audio": "https://shop.example/files/ogg/hello.ogg"},
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE12"},
        "pushName": "",
        "status": 201,
        "message": {
          "audioMessage": {
            "url": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000008?expires=1772445600&signature=EXAMPLE",
            "mimetype": "audio/ogg",
            "fileLength": "122",
            "ptt": true
          },
          "mediaUrl": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000008?expires=1772445600&signature=EXAMPLE"
        },
        "contextInfo": null,
        "messageType": "audioMessage",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000002",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE12"},
          "pushName": "",
          "status": "PENDING",
          "message": {
            "audioMessage": {
              "url": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000008?expires=1772445600&signature=EXAMPLE",
              "mimetype": "audio/ogg",
              "fileLength": "122",
              "ptt": true
            },
            "mediaUrl": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000008?expires=1772445600&signature=EXAMPLE"
          },
          "contextInfo": null,
          "messageType": "audioMessage",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000002",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "audio": "https://shop.example/files/pdf/offer.pdf"},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {
          "message": ["audio cannot be used: it could not be converted: the file: Invalid data found when processing input"],
          "reason": "not_convertible"
        }
      }
    }
  ],
  "message.sendSticker": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "sticker": "https://shop.example/files/webp/smile.webp"},
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE13"},
        "pushName": "",
        "status": 201,
        "message": {
          "stickerMessage": {
            "url": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000009?expires=1772445600&signature=EXAMPLE",
            "mimetype": "image/webp",
            "fileLength": "34"
          },
          "mediaUrl": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000009?expires=1772445600&signature=EXAMPLE"
        },
        "contextInfo": null,
        "messageType": "stickerMessage",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000002",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "wamid.EXAMPLE13"},
          "pushName": "",
          "status": "PENDING",
          "message": {
            "stickerMessage": {
              "url": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000009?expires=1772445600&signature=EXAMPLE",
              "mimetype": "image/webp",
              "fileLength": "34"
            },
            "mediaUrl": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000009?expires=1772445600&signature=EXAMPLE"
          },
          "contextInfo": null,
          "messageType": "stickerMessage",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000002",
          "source": "web"
        }
      }
    },
    {
      "name": "bad_request",
      "path": {"instance": "phone"},
      "body": {"number": "5511955554444", "sticker": "https://shop.example/files/pdf/offer.pdf"},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {
          "message": ["sticker cannot be used: it could not be converted: the file: Invalid data found when processing input"],
          "reason": "not_convertible"
        }
      }
    }
  ],
  "message.sendPtv": [
    {
      "name": "example",
      "path": {"instance": "linked"},
      "body": {"number": "5511955554444", "video": "https://shop.example/files/mp4/hello.mp4"},
      "status": 201,
      "answer": {
        "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "3EB00000000000000000000000000001"},
        "pushName": "",
        "status": 201,
        "message": {
          "conversation": "",
          "mediaUrl": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000010?expires=1772445600&signature=EXAMPLE"
        },
        "contextInfo": null,
        "messageType": "conversation",
        "messageTimestamp": 1772442000,
        "instanceId": "01a20000-0000-7000-8000-000000000011",
        "source": "web",
        "error": false,
        "response": {
          "key": {"remoteJid": "5511955554444@s.whatsapp.net", "fromMe": true, "id": "3EB00000000000000000000000000001"},
          "pushName": "",
          "status": "PENDING",
          "message": {
            "conversation": "",
            "mediaUrl": "https://parley.example/media/01a20000-0000-7000-8000-000000000005/01a20000-0000-7000-8000-000000000010?expires=1772445600&signature=EXAMPLE"
          },
          "contextInfo": null,
          "messageType": "conversation",
          "messageTimestamp": 1772442000,
          "instanceId": "01a20000-0000-7000-8000-000000000011",
          "source": "web"
        }
      }
    },
    {
      "name": "not_implemented",
      "path": {"instance": "shop"},
      "body": {"number": "5511955554444", "video": "https://shop.example/files/mp4/hello.mp4"},
      "status": 501,
      "answer": {
        "status": 501,
        "error": "Not Implemented",
        "response": {"message": ["The business API has no round video notes: send a video, or use a linked device"]}
      }
    }
  ]
}
