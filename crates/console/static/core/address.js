// Addresses that people enter.

// As in an address bar: a host alone, also with a port, is a site.
export const webAddress = (text) => (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
