<?php
// run.php SITE HOST MODE: runs the PHP of standard input inside WordPress, as the administrator. MODE "install" installs it first.
list( , $folder, $host, $mode )   = $argv;
$_SERVER['HTTP_HOST']       = $host;
$_SERVER['SERVER_NAME']     = explode( ':', $host )[0];
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
$_SERVER['REQUEST_METHOD']  = 'GET';
$_SERVER['REQUEST_URI']     = '/';
if ( 'install' === $mode ) {
	define( 'WP_INSTALLING', true );
	// Replaces a function of WordPress: no mail is sent.
	function wp_new_blog_notification() {}
}
require "$folder/wp-load.php";
if ( 'install' === $mode ) {
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	wp_install( 'A site', 'admin', 'admin@example.org', true, '', 'admin' );
	$wp_rewrite->set_permalink_structure( '/%postname%/' );
	delete_option( 'rewrite_rules' );
	exit;
}
wp_set_current_user( get_user_by( 'login', 'admin' )->ID );
eval( stream_get_contents( STDIN ) );
